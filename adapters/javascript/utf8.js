// UTF-8 as strict as the formats want it.

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text, or null if the bytes are not UTF-8. */
export function decodeUtf8(bytes) {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** The character at `index` as [code point, bytes]; [-1, 1] where no character begins. */
export function runeAt(bytes, index) {
  const lead = bytes[index];
  if (lead < 0x80) return [lead, 1];
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || index + size > bytes.length) return [-1, 1];
  let rune = lead & (0x7f >> size);
  for (let i = index + 1; i < index + size; i++) {
    if ((bytes[i] & 0xc0) !== 0x80) return [-1, 1];
    rune = (rune << 6) | (bytes[i] & 0x3f);
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][size];
  const surrogate = rune >= 0xd800 && rune <= 0xdfff;
  return rune < least || rune > 0x10ffff || surrogate ? [-1, 1] : [rune, size];
}

/** Where the first ill-formed byte is; the length if there is none. */
export function firstIllFormed(bytes) {
  for (let index = 0; index < bytes.length;) {
    const [rune, size] = runeAt(bytes, index);
    if (rune < 0) return index;
    index += size;
  }
  return bytes.length;
}

export const NAME_LIMIT = 1024; // bytes of a schema, table or column name; TiDB allows 64 characters

/** No half of a surrogate pair stands alone. */
export const isWellFormed = (text) => !/\p{Surrogate}/u.test(text);
