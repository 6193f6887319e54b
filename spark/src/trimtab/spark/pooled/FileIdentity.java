package trimtab.spark.pooled;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/** What differs when a file is replaced by another one: device and inode, length in bytes, time of its last change. */
record FileIdentity(Object inode, long length, FileTime changed) {
  /** Throws {@link java.nio.file.NoSuchFileException} if there is no such file. One system call; opens nothing. */
  static FileIdentity of(File file) throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(file.toPath(), BasicFileAttributes.class);
    return new FileIdentity(attributes.fileKey(), attributes.size(), attributes.lastModifiedTime());
  }
}
