// The one error that a decoder or encoder throws on purpose.

export class Rejection extends Error {
  /**
   * @param {string} problem what was found and what was allowed
   * @param {number} [offset] the byte where reading stopped, counted from 0 in the message's key or value
   */
  constructor(problem, offset) {
    super(problem);
    this.name = "Rejection";
    this.offset = offset;
    this.path = [];
    this.messageIndex = undefined;
  }

  toJSON() {
    return { problem: this.message, message: this.messageIndex, offset: this.offset, path: this.path };
  }
}

/** Run `read`; if it rejects, put `steps` before the path of the rejection. */
export function inside(steps, read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof Rejection) error.path.unshift(...steps);
    throw error;
  }
}
