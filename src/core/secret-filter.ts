/**
 * Takes secrets out of bytes that arrive in pieces, however they are spelt (`secret-spellings.ts`), also across the border of two pieces.
 * Linear in what arrives; holds back less than the longest spelling. A piece that holds none is returned as it is. Used for provider
 * answers, most of which are passed on unread.
 */
import { secretParts, secretSpellings } from './secret-spellings.ts';

/** A spelling, also as a character for each of its bytes, and where its matcher continues after a mismatch (Knuth, Morris, Pratt). */
type Pattern = { form: string; units: string; next: Int32Array };

/** What to look for, longest first, and the last characters that can be inside a spelling. */
export type SecretPatterns = { patterns: readonly Pattern[]; longest: number; inside: ReadonlySet<string> };

const mark = '[secret]';

/** Shorter values, and words such as `ollama` or `anything`, are placeholders, which may be part of any answer. */
const minLength = 8;
const placeholder = /^[a-z]{1,15}$/i;

/** null: there is nothing to look for. */
export function compileSecrets(values: readonly string[]): SecretPatterns | null {
  const parts = values.flatMap(credentialsIn).filter((part) => part.length >= minLength && !placeholder.test(part));
  const forms = [...new Set(parts.flatMap(secretSpellings))];
  const patterns = forms.map(toPattern).sort((one, other) => other.units.length - one.units.length);
  const longest = patterns[0]?.units.length ?? 0;
  return longest === 0 ? null : { patterns, longest, inside: new Set(patterns.flatMap(({ units }) => [...units])) };
}

/** The same for a text that is whole. */
export function withoutSecrets(text: string, secrets: SecretPatterns | null): string {
  let rest = text;
  for (const { form } of secrets?.patterns ?? []) rest = rest.replaceAll(form, mark);
  return rest;
}

export class SecretFilter {
  readonly #secrets: SecretPatterns;
  /** How much of each pattern the bytes so far end with. */
  readonly #matched: Int32Array;
  #held: Uint8Array = new Uint8Array(0);

  constructor(secrets: SecretPatterns) {
    this.#secrets = secrets;
    this.#matched = new Int32Array(secrets.patterns.length);
  }

  /** What can be passed on now; empty where all of it may be the beginning of a secret. */
  push(piece: Uint8Array): Uint8Array {
    const isFound = this.#scan(toUnits(piece));
    const bytes = this.#held.byteLength === 0 ? piece : concat(this.#held, piece);
    return this.#holdBack(isFound ? this.#clean(bytes) : bytes);
  }

  /** What was held back, at the end of the answer. */
  end(): Uint8Array {
    return this.#held;
  }

  /** Whether a secret ends in these units. Brings `#matched` to their end. */
  #scan(units: string): boolean {
    const { patterns, longest } = this.#secrets;
    const isOpen = this.#held.byteLength > 0;
    const crosses = isOpen && this.#advance(units.slice(0, longest));
    if (isOpen && units.length <= longest) return crosses;
    this.#restart(units);
    return crosses || patterns.some((pattern) => units.includes(pattern.units));
  }

  /** No secret is longer than `longest`, so what comes before the last units does not matter. Most pieces end outside of every secret. */
  #restart(units: string): void {
    this.#matched.fill(0);
    if (this.#secrets.inside.has(units.at(-1) ?? '')) this.#advance(units.slice(-this.#secrets.longest));
  }

  #advance(units: string): boolean {
    let isFound = false;
    for (const [index, { units: pattern, next }] of this.#secrets.patterns.entries()) {
      let matched = this.#matched[index] ?? 0;
      for (let at = 0; at < units.length; at += 1) {
        while (matched > 0 && units[at] !== pattern[matched]) matched = next[matched - 1] ?? 0;
        if (units[at] === pattern[matched]) matched += 1;
        if (matched < pattern.length) continue;
        isFound = true;
        matched = next[matched - 1] ?? 0;
      }
      this.#matched[index] = matched;
    }
    return isFound;
  }

  #clean(bytes: Uint8Array): Uint8Array {
    let rest = toUnits(bytes);
    for (const { units } of this.#secrets.patterns) rest = rest.replaceAll(units, mark);
    this.#restart(rest);
    return toBytes(rest);
  }

  #holdBack(bytes: Uint8Array): Uint8Array {
    const end = bytes.byteLength - Math.max(...this.#matched);
    this.#held = bytes.slice(end);
    return end === bytes.byteLength ? bytes : bytes.subarray(0, end);
  }
}

/** A header's value, or the credential in it: `Bearer abc` is found by its `abc`. */
function credentialsIn(value: string): string[] {
  const [whole = '', ...inner] = secretParts(value);
  return inner.length > 0 ? inner : [whole];
}

function toPattern(form: string): Pattern {
  const units = toUnits(new TextEncoder().encode(form));
  const next = new Int32Array(units.length);
  for (let at = 1, matched = 0; at < units.length; at += 1) {
    while (matched > 0 && units[at] !== units[matched]) matched = next[matched - 1] ?? 0;
    if (units[at] === units[matched]) matched += 1;
    next[at] = matched;
  }
  return { form, units, next };
}

/** A character for each byte, so that positions in the text are positions in the bytes. */
function toUnits(bytes: Uint8Array): string {
  return latin1.decode(bytes);
}

/** The encoding that `latin1` names in browsers differs from ISO 8859-1 in 32 characters. */
function toBytes(units: string): Uint8Array {
  return Uint8Array.from(units, (unit) => allUnits.indexOf(unit));
}

const latin1 = new TextDecoder('latin1');
const allUnits = latin1.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.byteLength + second.byteLength);
  bytes.set(first);
  bytes.set(second, first.byteLength);
  return bytes;
}
