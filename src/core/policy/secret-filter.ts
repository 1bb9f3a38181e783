/**
 * Removes secrets, in any spelling (`secret-spellings.ts`), from bytes that arrive in chunks, also across chunk borders. Linear in
 * the input; holds back less than the longest spelling. A chunk without a secret is returned unchanged. Used for provider responses,
 * most of which are passed on unparsed.
 */
import { joinBytes } from '../text/bytes.ts';
import { secretParts, secretSpellings } from './secret-spellings.ts';

/**
 * A spelling, also as one character per byte, and the index at which its matcher continues after a mismatch (Knuth, Morris, Pratt).
 */
type Pattern = { form: string; units: string; next: Int32Array };

/** The patterns to search for, longest first, and the characters that can be the last character inside a spelling. */
export type SecretPatterns = { patterns: readonly Pattern[]; longest: number; inside: ReadonlySet<string> };

const mark = '[secret]';

/** Shorter values, and words such as `ollama` or `anything`, are placeholders that may occur in any response. */
const minLength = 8;
const placeholder = /^[a-z]{1,15}$/i;

/** Returns null if there is nothing to search for. */
export function compileSecrets(values: readonly string[]): SecretPatterns | null {
  const parts = values.flatMap(credentialsIn).filter((part) => part.length >= minLength && !placeholder.test(part));
  const forms = [...new Set(parts.flatMap(secretSpellings))];
  const patterns = forms.map(toPattern).sort((one, other) => other.units.length - one.units.length);
  const longest = patterns[0]?.units.length ?? 0;
  return longest === 0 ? null : { patterns, longest, inside: new Set(patterns.flatMap(({ units }) => [...units])) };
}

/** Removes secrets from a complete text. */
export function removeSecrets(text: string, secrets: SecretPatterns | null): string {
  let rest = text;
  for (const { form } of secrets?.patterns ?? []) rest = rest.replaceAll(form, mark);
  return rest;
}

export class SecretFilter {
  readonly #secrets: SecretPatterns;
  /** How much of each pattern matches the end of the bytes so far. */
  readonly #matched: Int32Array;
  #held: Uint8Array = new Uint8Array(0);

  constructor(secrets: SecretPatterns) {
    this.#secrets = secrets;
    this.#matched = new Int32Array(secrets.patterns.length);
  }

  /** Returns the bytes that can be passed on now; empty if all of them may be the beginning of a secret. */
  push(piece: Uint8Array): Uint8Array {
    const isFound = this.#scan(toUnits(piece));
    const bytes = this.#held.byteLength === 0 ? piece : joinBytes([this.#held, piece]);
    return this.#holdBack(isFound ? this.#clean(bytes) : bytes);
  }

  /** Returns the bytes that were held back, at the end of the response. */
  end(): Uint8Array {
    return this.#held;
  }

  /** Whether a secret ends in these units. Advances `#matched` to their end. */
  #scan(units: string): boolean {
    const { patterns, longest } = this.#secrets;
    const isOpen = this.#held.byteLength > 0;
    const crosses = isOpen && this.#advance(units.slice(0, longest));
    if (isOpen && units.length <= longest) return crosses;
    this.#restart(units);
    return crosses || patterns.some((pattern) => units.includes(pattern.units));
  }

  /** No secret is longer than `longest`, so only the last units matter. Most chunks end outside of every secret. */
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

/** Returns a header's value and the credential in it, so that `Bearer abc` is also found as `abc`. */
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

/** One character per byte, so that positions in the text are positions in the bytes. */
function toUnits(bytes: Uint8Array): string {
  return latin1.decode(bytes);
}

/** In browsers the encoding label `latin1` differs from ISO 8859-1 in 32 characters. */
function toBytes(units: string): Uint8Array {
  return Uint8Array.from(units, (unit) => allUnits.indexOf(unit));
}

const latin1 = new TextDecoder('latin1');
const allUnits = latin1.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
