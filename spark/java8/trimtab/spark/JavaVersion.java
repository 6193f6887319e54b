package trimtab.spark;

/** Spark 3 also runs with Java 8 and 11. Classes under src need Java 17, and are only touched where it is there. */
public final class JavaVersion {
  private static final int NEEDED = 17;
  private static final String OLD_STYLE = "1.";

  private JavaVersion() {}

  /** Why classes under src cannot be loaded here; "": they can. */
  public static String missing() {
    int version = of(System.getProperty("java.specification.version", ""));
    return version >= NEEDED ? "" : "it needs Java " + NEEDED + ", and this is Java " + version;
  }

  /** 8 of "1.8", 17 of "17"; 0: no number. */
  static int of(String text) {
    String number = text.startsWith(OLD_STYLE) ? text.substring(OLD_STYLE.length()) : text;
    return number.matches("\\d{1,4}") ? Integer.parseInt(number) : 0;
  }
}
