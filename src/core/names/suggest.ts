/** Suggests near names for a name that is not found (contract §3.5). Linear in the candidates, with a bounded cost each. */
import { distance } from 'fastest-levenshtein';
import { fold } from './fold.ts';
import { limits } from '../limits/limits.ts';
import { spaceWords } from './name-words.ts';

/** A spelling to compare with, and the name to suggest when it is near: a tool has several spellings and one name. */
export type Candidate = readonly [spelling: string, name: string];

/** Returns up to `limits.maxSuggestions` names, nearest first, ties by name. Empty when nothing is near. */
export function nearNames(requested: string, candidates: Iterable<Candidate>): string[] {
  const target = fold(requested);
  if (target === '') return [];
  const words = wordsOf(requested);
  const scores = new Map<string, number>();
  for (const [spelling, name] of candidates) {
    const score = scoreOf(target, words, fold(spelling));
    if (score !== null && score < (scores.get(name) ?? Number.POSITIVE_INFINITY)) scores.set(name, score);
  }
  return [...scores]
    .sort(([a, scoreA], [b, scoreB]) => scoreA - scoreB || (a < b ? -1 : 1))
    .slice(0, limits.maxSuggestions)
    .map(([name]) => name);
}

/** The near names as the end of a sentence; `otherwise` when nothing is near. */
export function didYouMean(requested: string, candidates: Iterable<Candidate>, otherwise = ''): string {
  const near = nearNames(requested, candidates);
  return near.length === 0 ? otherwise : `; did you mean ${near.join(', ')}?`;
}

/**
 * Returns a function like `didYouMean` that stops after `most` searches: each one walks all names, and if more of them are wrong, the
 * problem is not a typing error.
 */
export function createSuggester(candidates: () => Iterable<Candidate>, most = 20): (requested: string, otherwise?: string) => string {
  let left = most;
  return (requested, otherwise = '') => (left-- > 0 ? didYouMean(requested, candidates(), otherwise) : otherwise);
}

/** Lower is nearer: typing errors, then names that contain the words, then names that contain some of them. null: not near. */
function scoreOf(target: string, words: readonly string[], candidate: string): number | null {
  if (candidate === '') return null;
  const shorter = Math.min(target.length, candidate.length);
  const longer = Math.max(target.length, candidate.length);
  const most = Math.min(maxEdits, Math.floor(longer / 3));
  // Compared only where the lengths allow it, so a long hostile name costs nothing.
  const edits = longer - shorter > most ? most + 1 : distance(target, candidate);
  if (edits <= most) return edits;
  if (shorter >= 3 && (candidate.includes(target) || target.includes(candidate))) return maxEdits + 1;
  const shared = words.filter((word) => candidate.includes(word)).length;
  return words.length > 1 && shared * 2 >= words.length ? maxEdits + 2 + words.length - shared : null;
}

/** With more edits than this it is another word. */
const maxEdits = 4;
/** Names have a few words; a hostile one may have hundreds. */
const maxWords = 12;

/** `searchGithub_issues` → search, github, issues. Shorter words are ignored. */
function wordsOf(name: string): string[] {
  const spaced = spaceWords(name.slice(0, limits.maxToolNameLength)).toLowerCase();
  return [...new Set(spaced.split(/[^a-z0-9]+/).filter((word) => word.length >= 3))].slice(0, maxWords);
}
