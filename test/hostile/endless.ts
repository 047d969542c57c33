import type { Writable } from "node:stream";

/** Writes the same again and again for as long as the other side listens. */
export function endlessly(socket: Writable, piece: Buffer | string): void {
  const more = () => {
    for (let i = 0; i < 64 && !socket.destroyed; i++) if (!socket.write(piece)) return;
    if (!socket.destroyed) setImmediate(more);
  };
  socket.on("drain", more);
  more();
}
