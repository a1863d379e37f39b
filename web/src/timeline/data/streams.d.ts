// Debian's TypeScript does not know it; browsers have it since 2023.
declare class DecompressionStream {
  constructor(format: "deflate"|"gzip");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}
