/**
 * The three kinds of tool name (contract §3), branded so that a raw string cannot be used as one, and the rules for each. Other files
 * handle folding (`fold.ts`), conflicts (`reserved-names.ts`, `name-claims.ts`) and resolution of called names (`alias-map.ts`).
 */
import * as z from 'zod';
import { fold, trimAscii } from './fold.ts';
import { isObjectMember } from './reserved-names.ts';
import { limits } from '../limits/limits.ts';
import { codePointName, hiddenCharacter } from '../text/visible-text.ts';

/** `<server>.<name>`. Never split back into its parts: every lookup uses the exact name. */
export const CanonicalName = z.string().min(3).max(limits.maxCanonicalNameLength).brand<'CanonicalName'>();
export type CanonicalName = z.infer<typeof CanonicalName>;

/** The intersection of the providers' rules for function names. The name sent to providers and MCP clients. */
const legalWireName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
export const WireName = z.string().regex(legalWireName).brand<'WireName'>();
export type WireName = z.infer<typeof WireName>;

const legalAlias = /^[a-z][a-z0-9_-]{1,63}$/;
export const Alias = z.string().regex(legalAlias).brand<'Alias'>();
export type Alias = z.infer<typeof Alias>;

const maxNameLength = 64;

export function isAlias(text: string): text is Alias {
  return legalAlias.test(text) && !isObjectMember(text);
}

/** Characters of the longest tool name that is accepted from a server. */
export const maxListedNameLength = 256;

/**
 * Returns why a server's name for a tool is refused; null: it is accepted. MCP (2026-07-28, tool names) says that names should be 1 to 128 of
 * A-Z, a-z, 0-9, "_", "-" and ".", but real servers list others (`a/b`, `$x`, `größe`, `查询`), and SDKs only warn. Such a tool is shown
 * under a legal wire name, its own name is sent to its server, and calls can use it. Refused is what a person could not see or tell apart, and `*`,
 * which stands for any name where tools are listed.
 */
export function listedNameFault(text: string): string | null {
  if (text === '') return 'it is empty';
  if (text.length > maxListedNameLength) return `it is longer than ${maxListedNameLength} characters`;
  if (/^\s|\s$/.test(text)) return 'it begins or ends with white space';
  const unseen = unreadable.exec(text.replace(spelledJoiner, ''))?.[0];
  if (unseen !== undefined) return `it contains ${codePointName(unseen)}, which cannot be seen`;
  if (mixesAlphabets(text)) return 'it has a word of letters of several alphabets, some of which look alike';
  return text.includes('*') ? 'it contains "*", which stands for any name' : null;
}

export function isListedName(text: string): boolean {
  return listedNameFault(text) === null;
}

const unreadable = new RegExp(String.raw`${hiddenCharacter}|[\t\n\p{Co}\p{Cs}]`, 'u');
/** Whether a word has Latin letters and those of an alphabet with the same shapes (UTS #39, mixed-script detection), as `read` with a Cyrillic `е`. */
function mixesAlphabets(text: string): boolean {
  const words = text.match(/[\p{L}\p{M}]+/gu) ?? [];
  return words.some((word) => /\p{Script=Latin}/u.test(word) && similarToLatin.test(word));
}

const similarToLatin = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u;
/** Joiners between letters, which some scripts need, and the parts of an emoji. */
const spelledJoiner = /(?<=[\p{L}\p{M}])\p{Join_Control}(?=\p{L})|(?<=\p{Emoji})\ufe0f\u20e3?|(?<=\p{Emoji}\ufe0f?)\u200d(?=\p{Emoji})/gu;

/** Parses an alias as written. Surrounding white space is removed; for anything else the reason says what to change. */
export function parseAlias(text: string): { ok: true; alias: Alias } | { ok: false; reason: string } {
  const alias = trimAscii(text);
  if (isAlias(alias)) return { ok: true, alias };
  return { ok: false, reason: `${quote(alias)} cannot be an alias: ${faultOf(alias, false)}` };
}

/** Parses a wire name given in a toolset: like an alias, but capitals and a leading `_` are allowed. At least 2 characters. */
export function parseWireName(text: string): { ok: true; wireName: WireName } | { ok: false; reason: string } {
  const name = trimAscii(text);
  if (isWireName(name) && name.length >= 2) return { ok: true, wireName: name };
  return { ok: false, reason: `${quote(name)} cannot be a name: ${faultOf(name, true)}` };
}

/**
 * Whether every provider accepts the name. Members of every JavaScript object are refused, since some clients expose tools as
 * properties.
 */
export function isWireName(text: string): text is WireName {
  return legalWireName.test(text) && !isObjectMember(text);
}

/**
 * Returns a tool's own name as a wire name: unchanged if legal, else made legal with a hash of the whole canonical name as suffix, so
 * that two long names with the same beginning differ. Deterministic.
 */
export function toWireName(canonical: string, ownName: string): WireName {
  return isWireName(ownName) ? ownName : distinctWireName(canonical, ownName);
}

/** Returns `ownName` made legal, always with the hash suffix of `identity`: for names that two tools would otherwise share. */
export function distinctWireName(identity: string, ownName: string): WireName {
  const suffix = `_${shortHash(identity)}`;
  const legal = ownName.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?![a-zA-Z_])/, '_');
  // Legal by construction: a leading letter or `_`, then legal characters, cut so that the suffix fits.
  return (legal.slice(0, maxNameLength - suffix.length) + suffix) as WireName;
}

/**
 * Returns the name of a tool of several with the same own name: the name of its server before it, as in `github_search`; with a hash if that
 * name is `taken` (folded names). Depends on nothing else, so the order of the tools does not matter.
 */
export function namespacedWireName(canonical: string, ownName: string, taken: ReadonlySet<string>): WireName {
  // Server names contain no dot.
  const name = toWireName(canonical, `${canonical.slice(0, canonical.indexOf('.'))}_${ownName}`);
  return taken.has(fold(name)) ? distinctWireName(canonical, ownName) : name;
}

/** Returns the own wire name of each tool. Also used for toolset documents that are not compiled. */
export function ownWireNames(tools: readonly Record<'canonical' | 'ownName' | 'wireName', string>[]): WireName[] {
  const plain = tools.map(({ canonical, ownName }) => toWireName(canonical, ownName));
  const [seen, taken] = [new Set(plain), new Set(plain.map(fold))];
  const sharing = Map.groupBy(plain, (name) => name);
  const entries = Map.groupBy(tools, ({ canonical }) => canonical);
  return tools.map(({ canonical, ownName, wireName: configured }, index) => {
    const own = plain[index] ?? toWireName(canonical, ownName);
    if (sharing.get(own)?.length === 1) return own;
    let wireName = entries.get(canonical)?.length === 1 ? namespacedWireName(canonical, ownName, taken) : own;
    // Entries of one tool differ in their wire names. A hash that is already taken, which is very unlikely, is computed again.
    for (let attempt = 0; seen.has(wireName); attempt++) wireName = distinctWireName(`${canonical} ${configured} ${attempt}`, ownName);
    seen.add(wireName);
    return wireName;
  });
}

/** Quotes a name for a message: cut to length, with non-printable characters replaced by their code point. */
export function quote(name: string): string {
  const text = name.slice(0, 80).replace(/[^\x20-\x7e]/gu, (character) => `<${codePointName(character)}>`);
  const isWhole = name.length <= 80 && text.length <= 120;
  return isWhole ? `"${text}"` : `"${text.slice(0, 120)}…"`;
}

function faultOf(name: string, isWire: boolean): string {
  if (name === '') return 'it is empty';
  if (isObjectMember(name)) return 'it is a member of every JavaScript object';
  const illegal = (isWire ? /[^a-zA-Z0-9_-]/u : /[^a-zA-Z0-9_:-]/u).exec(name)?.[0];
  if (illegal !== undefined) return `it contains ${describe(illegal)}; use ${isWire ? 'letters' : 'a-z'}, 0-9, "_" and "-"`;
  if (name.includes(':')) return 'it contains ":", which no provider accepts; use "_" or "-"';
  if (!isWire && /[A-Z]/.test(name)) return 'it contains capitals; aliases are lower case (calls match them in any case)';
  if (!(isWire ? /^[a-zA-Z_]/ : /^[a-z]/).test(name)) return `it must begin with a ${isWire ? 'letter or "_"' : 'letter a-z'}`;
  if (name.length < 2) return 'it is shorter than 2 characters';
  return `it is longer than ${maxNameLength} characters`;
}

function describe(character: string): string {
  if (character === ' ') return 'a space';
  return /[\x21-\x7e]/.test(character) ? `"${character}"` : codePointName(character);
}

/**
 * Returns 40 bits as ten hex digits: FNV-1a in two lanes. Not collision-proof: two names with the same hash are refused as a conflict
 * when the toolset is written. Synchronous, unlike Web Crypto, because names are needed in synchronous code.
 */
function shortHash(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x2f0b4a27;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
    high ^= high >>> 13;
  }
  low ^= low >>> 15;
  const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');
  return (hex(low) + hex(high)).slice(0, 10);
}
