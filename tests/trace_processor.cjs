// Perfetto's trace processor in Node: `node trace_processor.cjs FOLDER` reads requests on standard input and writes
// replies on standard output, both as TraceProcessorRpcStream. FOLDER has engine_bundle.js and trace_processor.wasm, which are
// made for a worker of a browser: here is as much of one as they need.
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const folder = process.argv[2];

class Request {
  open(_method, url) {
    this.url = url;
  }
  send() {
    const bytes = fs.readFileSync(path.join(folder, path.basename(this.url)));
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  }
}

const warnings = [];
const quiet = { log() {}, warn: (text) => warnings.push(text), error: (text) => warnings.push(text), debug() {} };
const scope = { URL, TextDecoder, TextEncoder, performance, crypto, setTimeout, console: quiet };
Object.assign(scope, { WorkerGlobalScope: class {}, XMLHttpRequest: Request, location: { href: 'http://host/x' } });
scope.self = scope;
scope.globalThis = scope;
vm.createContext(scope);
vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), scope);

setTimeout(() => {
  const replies = [];
  const port = { postMessage: (bytes) => replies.push(Buffer.from(bytes)) };
  scope.onmessage({ data: port });
  const bytes = fs.readFileSync(0);
  // The engine asks whether it is an array of its own world.
  const foreign = vm.runInContext('(length) => new Uint8Array(length)', scope)(bytes.length);
  foreign.set(bytes);
  port.onmessage({ data: foreign });
  process.stdout.write(Buffer.concat(replies));
  if (warnings.length && !replies.length) process.stderr.write(warnings.join('\n'));
}, 0);
