/**
 * Names to learn from calls: a model calls a name that is no tool, or an argument that the tool does not have, is refused, and then makes the
 * call that it meant. Where both calls say the same, the first name can become an alias of the second.
 */
import { fold } from '../names/fold.ts';
import { nearNames } from '../names/suggest.ts';
import { isRecord } from '../json/wire-value.ts';
import { sameJson } from '../schema/schema-parts.ts';
import { argumentAliases } from '../toolset/arguments/argument-aliases.ts';
import { type AliasMap, findTool, toolsNamed } from '../toolset/alias-map.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import { aliasFor } from './name-impact.ts';
import type { RecordedCall } from './recorded-calls.ts';

/** `argument`: of the tool; null: the name is one of the tool itself. `name`: as called, in its most frequent spelling. */
export type Lesson = {
  name: string;
  tool: string;
  argument: string | null;
  /** What can be written into the toolset. */
  alias: string;
  /** Refused calls that were followed by the call of the tool, and those that were followed by another one. */
  seen: number;
  contrary: number;
  models: string[];
  agents: string[];
  /** The tool may destroy: a person should know that models call it so, and no alias is proposed. */
  isNoteOnly: boolean;
  /** The arguments of some of the refused calls, as the model gave them. */
  examples: readonly Record<string, unknown>[];
};

/** A call and the one that the model then made. */
type Pair = { refused: RecordedCall; meant: RecordedCall };

/** Calls after a refused one that may be what was meant. Models try again at once. */
const maxLater = 4;
/** Lessons of one answer. */
const maxLessons = 200;
/** The share of refused calls that were followed by the same call. */
const leastShare = 0.75;
const maxExamples = 3;

/** `names`: of the toolset now. What it resolves already is not learned. `least`: how often a name must have been seen. */
export function learnNames(calls: readonly RecordedCall[], names: AliasMap, least: number): Lesson[] {
  const pairs = [...Map.groupBy(calls, ({ turn }) => turn).values()].flatMap(pairsOf);
  const votes = new Map<string, Vote[]>();
  for (const pair of pairs)
    for (const vote of pair.refused.code === 'invalid_arguments' ? argumentVotes(pair, names) : nameVotes(pair, names)) {
      const key = JSON.stringify([vote.argument === null ? '' : vote.tool.canonical, fold(vote.name)]);
      const known = votes.get(key);
      if (known === undefined) votes.set(key, [vote]);
      else known.push(vote);
    }
  const lessons = [...votes.values()].flatMap((group) => lessonOf(group, least) ?? []);
  return lessons.sort((a, b) => b.seen - a.seen || (a.name < b.name ? -1 : 1)).slice(0, maxLessons);
}

function pairsOf(calls: readonly RecordedCall[]): Pair[] {
  return calls.flatMap((refused, index): Pair[] => {
    if (refused.arguments === null || (refused.code !== 'unknown_tool' && refused.code !== 'invalid_arguments')) return [];
    const later = calls.slice(index + 1, index + 1 + maxLater).filter(({ isError, canonical }) => !isError && canonical !== null);
    const meant =
      refused.code === 'invalid_arguments'
        ? later.find(({ canonical }) => canonical === refused.canonical)
        : (later.find((call) => isSameRequest(refused, call)) ?? later.find((call) => isNear(refused, call)));
    return meant === undefined ? [] : [{ refused, meant }];
  });
}

/** Whether the second call carries what the first one did. Small values, such as `true` and 1, say nothing. */
function isSameRequest({ arguments: first }: RecordedCall, { arguments: second }: RecordedCall): boolean {
  if (first === null || second === null) return false;
  const values = Object.values(second).map((value) => JSON.stringify(value));
  const telling = Object.values(first)
    .map((value) => JSON.stringify(value))
    .filter((text) => text.length > 4);
  return telling.length > 0 && telling.filter((text) => values.includes(text)).length * 2 > telling.length;
}

/** A name that says the same, with nothing in the arguments that speaks against it. */
function isNear({ requested, arguments: first }: RecordedCall, { requested: then, arguments: second }: RecordedCall): boolean {
  const [near] = nearNames(requested, [[then, then]]);
  const keys = Object.keys(second ?? {});
  return near !== undefined && Object.keys(first ?? {}).every((name) => keys.includes(name));
}

type Vote = { name: string; tool: EditionTool; argument: string | null; call: RecordedCall };

function nameVotes({ refused, meant }: Pair, names: AliasMap): Vote[] {
  const tool = findTool(names, meant.requested);
  if (tool === null || tool.canonical !== meant.canonical || toolsNamed(names, refused.requested).length > 0) return [];
  return [{ name: refused.requested, tool, argument: null, call: refused }];
}

function argumentVotes({ refused, meant: repeated }: Pair, names: AliasMap): Vote[] {
  const tool = findTool(names, repeated.requested);
  if (tool === null || tool.canonical !== refused.canonical || !isRecord(tool.inputSchema.properties)) return [];
  const parameters = tool.inputSchema.properties;
  const rename = tool.arguments?.rename ?? {};
  const known = new Set(argumentAliases(tool.arguments).map(({ name }) => fold(name)));
  const [first, second] = [refused.arguments ?? {}, repeated.arguments ?? {}];
  const added = Object.keys(second).filter((name) => Object.hasOwn(parameters, name) && !Object.hasOwn(first, name));
  return Object.keys(first).flatMap((name): Vote[] => {
    if (Object.hasOwn(parameters, name) || known.has(fold(name)) || fold(name) === '') return [];
    const [meant, ...others] = added.filter((other) => sameJson(first[name], second[other]));
    return meant === undefined || others.length > 0 ? [] : [{ name, tool, argument: rename[meant] ?? meant, call: refused }];
  });
}

/** All votes of one name. */
function lessonOf(votes: readonly Vote[], least: number): Lesson | null {
  const groups = [...Map.groupBy(votes, ({ tool, argument }) => JSON.stringify([tool.canonical, argument])).values()];
  const [most] = groups.sort((a, b) => b.length - a.length);
  const [first] = most ?? [];
  if (most === undefined || first === undefined || most.length < least || most.length < votes.length * leastShare) return null;
  const name = mostFrequent(most.map((vote) => vote.name));
  const { tool, argument } = first;
  const alias = argument === null ? aliasFor(name) : name;
  if (alias === null) return null;
  const named = (values: readonly (string | null)[]): string[] =>
    [...new Set(values.filter((value) => value !== null && value !== ''))] as string[];
  return {
    ...{ name, tool: tool.canonical, argument, alias, seen: most.length, contrary: votes.length - most.length },
    models: named(most.map(({ call }) => call.model)),
    agents: named(most.map(({ call }) => call.agent)),
    isNoteOnly: argument === null && mayDestroy(tool),
    examples: most.slice(0, maxExamples).map(({ call }) => call.arguments ?? {}),
  };
}

function mostFrequent(names: readonly string[]): string {
  const counts = [...Map.groupBy(names, (name) => name)].sort(([, a], [, b]) => b.length - a.length);
  return counts[0]?.[0] ?? '';
}

/** By its annotations; without them, by its name. */
function mayDestroy({ annotations, ownName }: EditionTool): boolean {
  if (annotations?.readOnlyHint !== undefined || annotations?.destructiveHint !== undefined)
    return annotations.readOnlyHint !== true && annotations.destructiveHint === true;
  return /delete|remove|drop|destroy|purge|erase|wipe|kill/i.test(ownName);
}
