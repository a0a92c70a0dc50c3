// CRC-32, of IEEE and of Castagnoli.

const table = (polynomial) =>
  Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
    return rest;
  });

const sum = (entries) => (bytes) => {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = entries[(rest ^ byte) & 255] ^ (rest >>> 8);
  return (rest ^ 0xffffffff) >>> 0;
};

export const crc32 = sum(table(0xedb88320));
export const crc32c = sum(table(0x82f63b78));
