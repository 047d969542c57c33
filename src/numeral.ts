declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

/**
 * A JSON numeral whose digits a double cannot hold, kept as it was written (`12345678901234567.123456789`).
 * The parser makes one only where `String(Number(text))` would not mean the same number.
 */
export class Numeral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}
