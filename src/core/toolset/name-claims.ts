/**
 * Second phase of compiling a toolset: finds names that two tools claim (contract §3.4). The result does not depend on the order of
 * entries, names both tools, and suggests a free name. Pairs are never compared one by one: the cost is that of sorting the entries.
 */
import * as z from 'zod';
import { fold } from '../names/fold.ts';
import type { NamedEntry } from './named-entry.ts';
import { isAlias } from '../names/names.ts';
import { reservedNames } from '../names/reserved-names.ts';

/**
 * `tools` are canonical names: the first keeps the name, the second should be renamed. `suggestion` is legal as a name and as an
 * alias, and not claimed in the toolset. `claims`: of the two tools, in this order.
 */
export type NameConflict = { name: string; tools: [string, string]; suggestion: string; claims: [NameClaim, NameClaim] };

const place = z.string().nullable();

/** How a tool has a name. `entry`, `path`: in the document. `suggestion` solves the conflict as well. */
export const NameClaim = z.object({
  tool: z.string(),
  name: z.string().meta({ description: 'In the spelling of this claim.' }),
  entry: place.meta({ description: '`tools[i]`; null: a tool that Moniker adds.' }),
  path: place.meta({ description: 'Where the name is written, or the entry.' }),
  as: z.enum(['name', 'alias', 'default-alias', 'own-name', 'reserved']),
  suggestion: z.string().nullable().meta({ description: 'A free name for it; null: it cannot be given up.' }),
});
type NameClaim = z.infer<typeof NameClaim>;

/** Returns all conflicts, sorted by name and tools. n claims to one name give n-1 conflicts: each of the others with the keeper. */
export function findConflicts(entries: readonly NamedEntry[]): NameConflict[] {
  const sorted = sortByContent(entries);
  return propose(findMeetings(collectClaims(sorted)), sorted);
}

/** Returns the conflict with the paths that `at` gives its claims. */
export function conflictAt({ claims: [keeper, mover], ...conflict }: NameConflict, at: (path: string) => string): NameConflict {
  const place = (claim: NameClaim): NameClaim => {
    const { entry, path } = claim;
    return { ...claim, entry: entry === null ? null : at(entry), path: path === null ? null : at(path) };
  };
  return { ...conflict, claims: [place(keeper), place(mover)] };
}

/** Removes the influence of the document order; entries that compare equal are identical in everything that matters here. */
function sortByContent(entries: readonly NamedEntry[]): NamedEntry[] {
  const names = (entry: NamedEntry): string =>
    JSON.stringify([entry.givenName, entry.wireName, entry.aliases.map(({ name, inherited }) => [name, inherited])]);
  return [...entries].sort((a, b) => compare(a.canonical, b.canonical) || compare(names(a), names(b)));
}

/** `chosen` names were written by a person (given names, aliases); a `default` wire name is the tool's own name, made legal. */
type Claim = { name: string; folded: string; entry: NamedEntry; as: keyof typeof rank; path: string };

/** Of two chosen claims the lower rank keeps the name: names written in the document win over inherited ones. */
const rank = { name: 0, alias: 1, 'default-alias': 2, 'own-name': 3 } as const;

type Claims = {
  /** By folded name: models vary the spelling, so chosen names must differ in more than spelling. */
  chosen: Map<string, Claim[]>;
  /** By exact name. */
  defaults: Map<string, Claim[]>;
  /** By the name that the tool has at its source. */
  owners: Map<string, NamedEntry[]>;
};

function collectClaims(entries: readonly NamedEntry[]): Claims {
  const defaults = entries.filter(hasDefaultName).map((entry) => ownClaim(entry, entry.wireName));
  return {
    chosen: Map.groupBy(entries.flatMap(chosenBy), ({ folded }) => folded),
    defaults: Map.groupBy(defaults, ({ name }) => name),
    owners: Map.groupBy(entries, ({ ownName }) => ownName),
  };
}

/** A hidden alias that repeats the tool's own name does not make it a chosen name: without the alias the name would be the same. */
function hasDefaultName({ givenName, aliases, wireName }: NamedEntry): boolean {
  return givenName === null && !aliases.some((alias) => alias.mode === 'announced' && alias.name === wireName);
}

function chosenBy(entry: NamedEntry): Claim[] {
  const claims = entry.aliases.map(({ name, inherited, path }): Claim => {
    return { name, folded: fold(name), entry, as: inherited ? 'default-alias' : 'alias', path };
  });
  const { givenName: name, path } = entry;
  return name === null ? claims : [{ name, folded: fold(name), entry, as: 'name', path: `${path}.name` }, ...claims];
}

function ownClaim(entry: NamedEntry, name: string): Claim {
  return { name, folded: fold(name), entry, as: 'own-name', path: entry.path };
}

/** `claim` null: a reserved name. */
type Keeper = { canonical: string; claim: Claim | null };
type Meeting = { name: string; keeper: Keeper; mover: Claim };
type Meet = (keeper: Keeper, mover: Claim) => void;

function findMeetings(claims: Claims): Meeting[] {
  const meetings = new Map<string, Meeting>();
  const meet: Meet = (keeper, mover) => {
    meetings.set(`${mover.entry.path} ${mover.name} ${keeper.canonical}`, { name: mover.name, keeper, mover });
  };
  meetChosen(claims, meet);
  meetOwnNames(claims, meet);
  meetDefaults(claims, meet);
  meetReserved(claims, meet);
  return [...meetings.values()].sort(
    (a, b) =>
      compare(a.name, b.name) ||
      compare(a.keeper.canonical, b.keeper.canonical) ||
      compare(a.mover.entry.canonical, b.mover.entry.canonical),
  );
}

/** Compares given names and aliases with each other, exact and folded. Spellings of one name in the same entry do not conflict. */
function meetChosen(claims: Claims, meet: Meet): void {
  for (const group of claims.chosen.values()) {
    const keeper = keeperOf(group);
    for (const claim of group) if (claim.entry !== keeper.entry) meet(toKeeper(keeper), claim);
  }
}

/**
 * Compares given names and aliases with the own names of other tools, exact: this refuses shadowing, swaps and chains. Canonical
 * names need no check: they contain a dot, which given names and aliases cannot.
 */
function meetOwnNames(claims: Claims, meet: Meet): void {
  // Two owners are enough, since at most one of them is the claimant's own tool. Entries are sorted, and so are owners.
  const firstTwo = new Map<string, NamedEntry[]>();
  for (const claim of [...claims.chosen.values()].flat()) {
    const owners = firstTwo.get(claim.name) ?? firstOfTwo(claims.owners.get(claim.name) ?? []);
    firstTwo.set(claim.name, owners);
    const keeper = owners.find(({ canonical }) => canonical !== claim.entry.canonical);
    if (keeper !== undefined) meet(toKeeper(ownClaim(keeper, claim.name)), claim);
  }
}

/** Returns the first entries of the first two tools. */
function firstOfTwo(entries: readonly NamedEntry[]): NamedEntry[] {
  const [first] = entries;
  const second = entries.find(({ canonical }) => canonical !== first?.canonical);
  return [first, second].filter((entry) => entry !== undefined);
}

/** Compares default wire names with each other and with given names and aliases, exact. */
function meetDefaults(claims: Claims, meet: Meet): void {
  for (const [name, group] of claims.defaults) {
    const keeper = keeperOf(group);
    for (const claim of group) if (claim.entry !== keeper.entry) meet(toKeeper(keeper), claim);
    for (const claim of claims.chosen.get(fold(name)) ?? []) {
      if (claim.name === name && claim.entry !== keeper.entry) meet(toKeeper(keeper), claim);
    }
  }
}

/** Compares with the names of built-in tools that Moniker adds: chosen names in any spelling, defaults exact. */
function meetReserved(claims: Claims, meet: Meet): void {
  for (const [name, owner] of reservedNames) {
    const takers = [...(claims.chosen.get(fold(name)) ?? []), ...(claims.defaults.get(name) ?? [])];
    for (const claim of takers) if (claim.entry.canonical !== owner) meet({ canonical: owner, claim: null }, claim);
  }
}

/** Returns the first claim with the lowest rank. Groups are never empty. */
function keeperOf(group: readonly Claim[]): Claim {
  return group.reduce((best, claim) => (rank[claim.as] < rank[best.as] ? claim : best));
}

function toKeeper(claim: Claim): Keeper {
  return { canonical: claim.entry.canonical, claim };
}

function propose(meetings: readonly Meeting[], entries: readonly NamedEntry[]): NameConflict[] {
  if (meetings.length === 0) return [];
  const namer = createNamer(entries);
  const proposed = new Map<NamedEntry, Map<string, string>>();
  const suggest = ({ name, entry }: Claim): string => {
    // A name that conflicts with two others still needs only one new name.
    const ofEntry = proposed.get(entry) ?? new Map<string, string>();
    proposed.set(entry, ofEntry);
    const suggestion = ofEntry.get(name) ?? namer(name, entry);
    ofEntry.set(name, suggestion);
    return suggestion;
  };
  const moved = meetings.map((meeting) => ({ ...meeting, suggestion: suggest(meeting.mover) }));
  // After all second tools, whose names should be the better ones.
  return moved.map(({ name, keeper, mover, suggestion }) => {
    const claims: NameConflict['claims'] = [keeperClaim(name, keeper, mover, suggest), toNameClaim(mover, suggestion)];
    return { name, tools: [keeper.canonical, mover.entry.canonical], suggestion, claims };
  });
}

function keeperClaim(name: string, { canonical, claim }: Keeper, mover: Claim, suggest: (claim: Claim) => string): NameClaim {
  if (claim === null) return { tool: canonical, name, entry: null, path: null, as: 'reserved', suggestion: null };
  // A chosen name must not be the own name of another tool, whatever that tool is called.
  const isFixed = mover.as !== 'own-name' && claim.entry.ownName === mover.name && canonical !== mover.entry.canonical;
  return toNameClaim(claim, isFixed ? null : suggest(claim));
}

function toNameClaim({ name, entry, path, as }: Claim, suggestion: string | null): NameClaim {
  return { tool: entry.canonical, name, entry: entry.path, path, as, suggestion };
}

/** Returns a function that suggests names that are free in every spelling, each only once. */
function createNamer(entries: readonly NamedEntry[]): (name: string, entry: NamedEntry) => string {
  const taken = new Set([...reservedNames.keys()].map(fold));
  const canonicals = new Set([...reservedNames.values()].map(fold));
  for (const entry of entries) {
    canonicals.add(fold(entry.canonical));
    for (const name of [entry.wireName, entry.ownName, ...entry.aliases.map((alias) => alias.name)]) taken.add(fold(name));
  }
  const counters = new Map<string, number>();

  // A name that folds to another tool's canonical name would be legal, but misleading.
  const take = (name: string, entry: NamedEntry): boolean => {
    const folded = fold(name);
    const isFree = isAlias(name) && !taken.has(folded) && (!canonicals.has(folded) || folded === fold(entry.canonical));
    if (isFree) taken.add(folded);
    return isFree;
  };

  return (name, entry) => {
    const server = slug(entry.server);
    const base = slug(name);
    const plain = [base.startsWith(server) ? base : `${server}_${base}`, `${server}_${slug(entry.ownName)}`].map(cut);
    for (const candidate of plain) if (take(candidate, entry)) return candidate;
    // The counter continues where it stopped, so that a thousand claims to one name take linear time.
    const stem = plain[0] ?? 'tool';
    for (let count = counters.get(stem) ?? 2; ; count++) {
      counters.set(stem, count + 1);
      const candidate = `${stem}_${count}`;
      if (take(candidate, entry)) return candidate;
    }
  };
}

function slug(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^[^a-z]+/, '')
      .replace(/_$/, '') || 'tool'
  );
}

/** Leaves space for a counter. */
function cut(name: string): string {
  return name.slice(0, 56);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
