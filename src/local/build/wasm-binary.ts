/** Reads and writes the WebAssembly binary format (Core Specification 2.0, chapter 5), for `meter-wasm.ts`. */

export function wasmText(value: string): number[] {
  const bytes = new TextEncoder().encode(value);
  return [...u32(bytes.length), ...bytes];
}

export function u32(value: number): number[] {
  const bytes: number[] = [];
  let left = value >>> 0;
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return [...bytes, left];
}

export function s32(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left < -0x40 || left >= 0x40; left >>= 7) bytes.push((left & 0x7f) | 0x80);
  return [...bytes, left & 0x7f];
}

export class WasmReader {
  readonly #bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.position >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.position++] ?? truncated();
  }

  /** Returns the low 32 bits of a LEB128 number of any width. */
  leb(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  u32(): number {
    return this.leb() >>> 0;
  }

  name(): string {
    return new TextDecoder().decode(this.take(this.u32()));
  }

  take(length: number): Uint8Array {
    this.position += length;
    return this.#bytes.subarray(this.position - length, this.position);
  }

  since(position: number): Uint8Array {
    return this.#bytes.subarray(position, this.position);
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.position);
  }
}

export class WasmWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  byte(value: number): void {
    this.bytes([value]);
  }

  u32(value: number): void {
    this.bytes(u32(value));
  }

  bytes(more: ArrayLike<number>): void {
    const length = this.#length + more.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(more, this.#length);
    this.#length = length;
  }

  sized(content: WasmWriter): void {
    const bytes = content.take();
    this.u32(bytes.length);
    this.bytes(bytes);
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }
}

function truncated(): never {
  throw new Error('The WebAssembly module is truncated.');
}
