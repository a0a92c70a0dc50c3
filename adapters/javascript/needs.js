// Packages that are not always there.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Import a package and tell its version; without it the program ends, and says what to do. */
export async function needs(name, module = name) {
  try {
    const imported = await import(module);
    const { version } = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url)));
    return [imported, version];
  } catch (error) {
    if (!["ERR_MODULE_NOT_FOUND", "ENOENT"].includes(error.code)) throw error;
    console.error(`${name} is not installed: npm ci in ${HERE}`);
    process.exit(69);
  }
}
