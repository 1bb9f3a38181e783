/**
 * What a draft would have done to the arguments of past calls: each recorded call is prepared with the stored entry and with that of the
 * draft, as a call is. Only calls that the stored entry accepts are compared.
 */
import { argumentAliases } from '../../core/toolset/arguments/argument-aliases.ts';
import type { ArgumentMend } from '../../core/impact/name-impact.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { Issue } from '../../core/problem.ts';
import { nearNames } from '../../core/names/suggest.ts';
import { type AliasMap, findTool } from '../../core/toolset/alias-map.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { prepareArguments } from '../call/prepare-call.ts';
import { anyCaller } from './decision-impact.ts';
import { maxSessionsNamed, type ReadTurns, type CallInSession } from './recorded-turns.ts';

/** Calls of a tool that the draft refuses for the same reason. `issues`: of the first of them. */
export type RefusedCalls = { tool: string; calls: number; sessions: string[]; issues: Issue[]; mends: ArgumentMend[] };

/** `refusedCalls`: all of them; `refused` has the most frequent reasons. */
export type ArgumentImpact = { judged: number; refusedCalls: number; refused: RefusedCalls[] };

const maxRefused = 100;

export type ImpactInTurns = ArgumentImpact & { turns: ReadTurns };

export function impactInTurns(
  before: AliasMap | null,
  after: AliasMap | null,
  { calls, ...turns }: ReadTurns & { calls: readonly CallInSession[] },
): ImpactInTurns {
  return { ...argumentImpact(before, after, calls), turns };
}

export function argumentImpact(before: AliasMap | null, after: AliasMap | null, calls: readonly CallInSession[]): ArgumentImpact {
  return judgeCalls(calls, ({ requested }) => {
    const [was, now] = [findTool(before, requested), findTool(after, requested)];
    // A name that leads elsewhere is the impact on names.
    return { was, now: now?.canonical === was?.canonical ? now : null, faults: [] };
  });
}

/** `faults`: why no call is accepted now, whatever its arguments. `now` null, without faults: judged elsewhere. */
export type Entries = { was: EditionTool | null; now: EditionTool | null; faults: readonly Issue[] };

export function judgeCalls(calls: readonly CallInSession[], entriesOf: (call: CallInSession) => Entries): ArgumentImpact {
  const found = new Map<string, RefusedCalls>();
  let judged = 0;
  for (const call of calls) {
    const { arguments: args, session } = call;
    const { was, now, faults } = entriesOf(call);
    if (was === null || args === null || accept(was, args).length > 0) continue;
    judged += 1;
    const issues = now === null || faults.length > 0 ? [...faults] : accept(now, args);
    if (issues.length === 0) continue;
    const mends = now === null || faults.length > 0 ? [] : mendsOf(was, now, args);
    const key = JSON.stringify([was.canonical, issues.map(({ path, message }) => [path, message]), mends]);
    const known = found.get(key) ?? { tool: was.canonical, calls: 0, sessions: [], issues, mends };
    known.calls += 1;
    if (!known.sessions.includes(session) && known.sessions.length < maxSessionsNamed) known.sessions.push(session);
    found.set(key, known);
  }
  const refused = [...found.values()];
  return { judged, refusedCalls: refused.reduce((sum, { calls }) => sum + calls, 0), refused: mostRefused(refused) };
}

export function mostRefused<Refused extends RefusedCalls>(refused: readonly Refused[]): Refused[] {
  return refused.toSorted((a, b) => b.calls - a.calls).slice(0, maxRefused);
}

/** What is wrong with the arguments of a call. */
export function accept(tool: EditionTool, args: Record<string, unknown>): Issue[] {
  const { issues, refusal } = prepareArguments(tool, args, anyCaller(tool));
  return refusal === null ? [] : issues;
}

/** The aliases under which the draft accepts the call; none if it does not even then. */
function mendsOf(was: EditionTool, now: EditionTool, args: Record<string, unknown>): ArgumentMend[] {
  const [earlier, parameters] = [was, now].map(({ inputSchema }) => (isRecord(inputSchema.properties) ? inputSchema.properties : {}));
  const rename = now.arguments?.rename ?? {};
  const shownAs = new Map(Object.entries(rename).map(([shown, own]) => [own, shown]));
  const aliases = new Map(argumentAliases(was.arguments).map(({ name, argument }) => [name, argument]));
  // What the tool itself renamed: parameters that it did not have before, and that the call does not give.
  const added = new Set(Object.keys(parameters ?? {}).filter((name) => !Object.hasOwn(earlier ?? {}, name) && !Object.hasOwn(args, name)));
  const mends = Object.keys(args).flatMap((name): ArgumentMend[] => {
    if (Object.hasOwn(parameters ?? {}, name)) return [];
    const argument = was.arguments?.rename?.[name] ?? aliases.get(name) ?? name;
    const shown = shownAs.get(argument) ?? argument;
    const successor = Object.hasOwn(parameters ?? {}, shown)
      ? shown
      : Object.hasOwn(earlier ?? {}, name)
        ? successorOf(name, added)
        : undefined;
    if (successor === undefined) return [];
    added.delete(successor);
    return [{ tool: now.canonical, argument: rename[successor] ?? successor, alias: name }];
  });
  const names = Object.fromEntries(mends.map(({ alias, argument }) => [alias, argument]));
  const mended = { ...now, arguments: { ...now.arguments, alias: { ...now.arguments?.alias, ...names } } };
  return mends.length > 0 && accept(mended, args).length === 0 ? mends : [];
}

/** The parameter with the most similar name, or the only one. */
function successorOf(name: string, added: ReadonlySet<string>): string | undefined {
  const [near] = nearNames(
    name,
    [...added].map((one) => [one, one]),
  );
  return near ?? (added.size === 1 ? [...added][0] : undefined);
}
