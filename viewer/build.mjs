// Builds the page: one HTML file with its script, style and licences inside. `--test` builds the tests instead.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../python/trimtab/report/page.html");
const common = { bundle: true, write: false, logLevel: "warning", absWorkingDir: here };

/** The one output of a bundle, as text that can stand inside <script> or <style>. */
async function bundled(entry, options) {
  const result = await build({ ...common, ...options, entryPoints: [entry], minify: true, legalComments: "none" });
  const text = result.outputFiles[0].text.trim();
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${entry}: the bundle would end its own element`);
  return text;
}

// The policy names what may run by its hash: even if data of the program ended up in the markup, nothing of it would.
const source = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

async function page() {
  const script = await bundled("src/main.ts", { format: "iife", target: ["es2021"], charset: "ascii" });
  const style = await bundled("src/style.css", { target: ["chrome111", "firefox113", "safari16.4"] });
  const licence = await readFile(join(here, "node_modules/uplot/LICENSE"), "utf8");
  const policy = `default-src 'none'; script-src ${source(script)}; style-src ${source(style)}; base-uri 'none'; form-action 'none'`;
  const parts = { POLICY: policy, STYLE: style, SCRIPT: script, LICENCE: licence.replaceAll("--", "- -").trim() };
  const template = await readFile(join(here, "src/template.html"), "utf8");
  // One pass: what is put in is not searched again.
  return template.replace(/@@(POLICY|STYLE|SCRIPT|LICENCE)@@/g, (_, name) => parts[name]);
}

if (process.argv.includes("--test")) {
  const out = join(here, "dist/test");
  await rm(out, { recursive: true, force: true });
  const tests = (await readdir(join(here, "test"))).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    write: true,
    entryPoints: tests.map((name) => join("test", name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
  });
} else {
  const text = await page();
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
  console.log(`${target}: ${(Buffer.byteLength(text) / 1024).toFixed(0)} KiB`);
}
