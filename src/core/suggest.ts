/** Near names, for the answer to a name that fits nothing (DESIGN §3.5). Linear in the candidates, with a bounded cost each. */
import { fold } from './fold.ts';
import { limits } from './limits.ts';
import { spaceWords } from './name-words.ts';

/** A spelling to compare with, and the name to propose when it is near: a tool has several spellings and one answer. */
export type Candidate = readonly [spelling: string, answer: string];

/** Up to `limits.maxSuggestions` answers, nearest first, ties by name. Empty when nothing is near. */
export function nearNames(requested: string, candidates: Iterable<Candidate>): string[] {
  const target = fold(requested);
  if (target === '') return [];
  const words = wordsOf(requested);
  const scores = new Map<string, number>();
  for (const [spelling, answer] of candidates) {
    const score = distance(target, words, fold(spelling));
    if (score !== null && score < (scores.get(answer) ?? Number.POSITIVE_INFINITY)) scores.set(answer, score);
  }
  return [...scores]
    .sort(([a, scoreA], [b, scoreB]) => scoreA - scoreB || (a < b ? -1 : 1))
    .slice(0, limits.maxSuggestions)
    .map(([answer]) => answer);
}

/** Typing slips before names that hold the words before names that hold some of them. null: not near. */
function distance(target: string, words: readonly string[], candidate: string): number | null {
  if (candidate === '') return null;
  if (candidate === target) return 0;
  const most = Math.min(maxEdits, Math.floor(Math.max(target.length, candidate.length) / 3));
  const edits = editDistance(target, candidate, most);
  if (edits <= most) return edits;
  const shorter = Math.min(target.length, candidate.length);
  if (shorter >= 3 && (candidate.includes(target) || target.includes(candidate))) return maxEdits + 1;
  const shared = words.filter((word) => candidate.includes(word)).length;
  return words.length > 1 && shared * 2 >= words.length ? maxEdits + 2 + words.length - shared : null;
}

/** More slips than this are another word. */
const maxEdits = 4;
/** Names have a handful of words; a hostile one may have hundreds. */
const maxWords = 12;

/** `searchGithub_issues` → search, github, issues. Shorter pieces say too little. */
function wordsOf(name: string): string[] {
  const spaced = spaceWords(name.slice(0, limits.maxToolNameBytes)).toLowerCase();
  return [...new Set(spaced.split(/[^a-z0-9]+/).filter((word) => word.length >= 3))].slice(0, maxWords);
}

/** Levenshtein distance, or `most + 1` when it is more: only the band of width 2·most+1 along the diagonal is computed. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const beyond = most + 1;
  let previous = new Uint8Array(b.length + 1).fill(beyond);
  let current = new Uint8Array(b.length + 1).fill(beyond);
  for (let column = 0; column <= Math.min(most, b.length); column++) previous[column] = column;
  for (let row = 1; row <= a.length; row++) {
    const from = Math.max(1, row - most);
    const to = Math.min(b.length, row + most);
    current[from - 1] = from === 1 && row <= most ? row : beyond;
    let least = current[from - 1] ?? beyond;
    for (let column = from; column <= to; column++) {
      const same = a.charCodeAt(row - 1) === b.charCodeAt(column - 1);
      const substituted = (previous[column - 1] ?? beyond) + (same ? 0 : 1);
      const removed = (previous[column] ?? beyond) + 1;
      const inserted = (current[column - 1] ?? beyond) + 1;
      const value = Math.min(substituted, removed, inserted, beyond);
      current[column] = value;
      if (value < least) least = value;
    }
    if (to < b.length) current[to + 1] = beyond;
    if (least > most) return beyond;
    [previous, current] = [current, previous];
  }
  return previous[b.length] ?? beyond;
}
