// Columns of numbers as python/trimtab/report/columns.py packs them: byte by byte, compressed.

export type Numbers = Uint32Array | Float64Array;

export const isSupported = (): boolean => typeof DecompressionStream === "function";

export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** All columns. Throws where the bytes are something else, or cut off. */
export async function unpacked(bytes: Uint8Array): Promise<Numbers[]> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return columnsOf(new Uint8Array(await new Response(stream).arrayBuffer()));
}

const HEAD = 8;

function columnsOf(bytes: Uint8Array): Numbers[] {
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const columns: Numbers[] = [];
  const count = head.getUint32(0, true);
  let from = HEAD * (count + 1);
  for (let at = 1; at <= count; at++) {
    const length = head.getUint32(at * HEAD, true),
      width = head.getUint32(at * HEAD + 4, true);
    if (width > 7 || from + length * width > bytes.length) throw new Error(`column ${at - 1}: the tile is cut off`);
    columns.push(numbers(bytes, from, length, width));
    from += length * width;
  }
  return columns;
}

function numbers(bytes: Uint8Array, from: number, length: number, width: number): Numbers {
  const column = width <= 4 ? new Uint32Array(length) : new Float64Array(length);
  let scale = 1;
  for (let plane = 0; plane < width; plane++, scale *= 256) {
    const base = from + plane * length;
    for (let at = 0; at < length; at++) column[at] = column[at]! + bytes[base + at]! * scale;
  }
  return column;
}
