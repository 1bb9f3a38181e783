/**
 * Selects a document's operations by `include` and `exclude`: tool name, operation id, `tag:NAME` or `METHOD /path`, where `*` matches any
 * text, including slashes. A pattern that matches nothing is reported, because it is usually misspelled.
 */
import { quoted } from '../problem.ts';
import type { Warning } from '../warning.ts';
import type { FoundOperation } from './document.ts';

export type NamedOperation = FoundOperation & { name: string };
export type OperationSelection = { include?: readonly string[] | undefined; exclude?: readonly string[] | undefined };

export function selectOperations(
  operations: readonly NamedOperation[],
  { include, exclude = [] }: OperationSelection,
): { selected: NamedOperation[]; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const unmatched = (list: readonly Term[], path: string): void => {
    for (const [index, { text, isMet }] of list.entries())
      if (!isMet) warnings.push({ path: `${path}[${index}]`, message: `${quoted(text)} matches no operation of the document` });
  };
  const wanted = include?.map(toTerm);
  const unwanted = exclude.map(toTerm);
  const selected = operations.filter((operation) => {
    const words = wordsOf(operation);
    // Both lists are evaluated for each operation, to know which patterns match something.
    const isWanted = wanted === undefined || matches(wanted, words);
    return !matches(unwanted, words) && isWanted;
  });
  unmatched(wanted ?? [], 'include');
  unmatched(unwanted, 'exclude');
  return { selected, warnings };
}

type Term = { text: string; pieces: string[]; isMet: boolean };

function toTerm(written: string): Term {
  const text = written.trim();
  const [, method, path] = /^(\*|[A-Za-z]+)\s+(\/.*|\*)$/.exec(text) ?? [];
  const pattern = method === undefined ? text : `${method.toUpperCase()} ${path}`;
  return { text, pieces: pattern.split('*'), isMet: false };
}

function wordsOf({ name, operationId, method, path, tags }: NamedOperation): string[] {
  return [name, ...(operationId === null ? [] : [operationId]), `${method} ${path}`, ...tags.map((tag) => `tag:${tag}`)];
}

function matches(terms: readonly Term[], words: readonly string[]): boolean {
  let any = false;
  for (const term of terms) {
    if (!words.some((word) => fits(term.pieces, word))) continue;
    term.isMet = true;
    any = true;
  }
  return any;
}

/**
 * Matches `pieces` with any text between them. Takes the first occurrence of each piece, so the time is linear apart from the search of one
 * piece.
 */
function fits(pieces: readonly string[], word: string): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return word === first;
  if (!word.startsWith(first) || word.length < first.length + last.length || !word.endsWith(last)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = word.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= word.length - last.length;
}
