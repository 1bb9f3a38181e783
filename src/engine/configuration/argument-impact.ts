/**
 * What a draft of a toolset would have done to the arguments of past calls: each recorded call is prepared with the stored entry and with that of the
 * draft, as a call is. Only calls that the stored entry accepts are compared.
 */
import { argumentAliases } from '../../core/toolset/arguments/argument-aliases.ts';
import type { ArgumentMend } from '../../core/impact/name-impact.ts';
import type { RecordedCall } from '../../core/impact/recorded-calls.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { Issue } from '../../core/problem.ts';
import { type AliasMap, findTool } from '../../core/toolset/alias-map.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { prepareArguments } from '../call/prepare-call.ts';
import { anyCaller } from './decision-impact.ts';

/** Calls of a tool that the draft refuses for the same reason. `issues`: of the first of them. */
export type RefusedCalls = { tool: string; calls: number; sessions: string[]; issues: Issue[]; mends: ArgumentMend[] };

/** `refusedCalls`: all of them; `refused` has the most frequent reasons. */
export type ArgumentImpact = { judged: number; refusedCalls: number; refused: RefusedCalls[] };

const maxSessionsNamed = 20;
const maxRefused = 100;

export function argumentImpact(
  before: AliasMap | null,
  after: AliasMap | null,
  calls: readonly (RecordedCall & { session: string })[],
): ArgumentImpact {
  const found = new Map<string, RefusedCalls>();
  let judged = 0;
  for (const { requested, arguments: args, session } of calls) {
    const [was, now] = [findTool(before, requested), findTool(after, requested)];
    if (was === null || args === null || accept(was, args).length > 0) continue;
    judged += 1;
    if (now === null || now.canonical !== was.canonical) continue;
    const issues = accept(now, args);
    if (issues.length === 0) continue;
    const mends = mendsOf(was, now, args);
    const key = JSON.stringify([was.canonical, issues.map(({ path, message }) => [path, message]), mends]);
    const known = found.get(key) ?? { tool: was.canonical, calls: 0, sessions: [], issues, mends };
    known.calls += 1;
    if (!known.sessions.includes(session) && known.sessions.length < maxSessionsNamed) known.sessions.push(session);
    found.set(key, known);
  }
  const refused = [...found.values()].sort((a, b) => b.calls - a.calls);
  return { judged, refusedCalls: refused.reduce((sum, { calls }) => sum + calls, 0), refused: refused.slice(0, maxRefused) };
}

/** What is wrong with the arguments of a call. */
export function accept(tool: EditionTool, args: Record<string, unknown>): Issue[] {
  const { issues, refusal } = prepareArguments(tool, args, anyCaller(tool));
  return refusal === null ? [] : issues;
}

/** The aliases under which the draft accepts the call; none if it does not even then. */
function mendsOf(was: EditionTool, now: EditionTool, args: Record<string, unknown>): ArgumentMend[] {
  const parameters = isRecord(now.inputSchema.properties) ? now.inputSchema.properties : {};
  const rename = now.arguments?.rename ?? {};
  const shownAs = new Map(Object.entries(rename).map(([shown, own]) => [own, shown]));
  const aliases = new Map(argumentAliases(was.arguments).map(({ name, argument }) => [name, argument]));
  const mends = Object.keys(args).flatMap((name): ArgumentMend[] => {
    const argument = was.arguments?.rename?.[name] ?? aliases.get(name) ?? name;
    const isShown = Object.hasOwn(parameters, shownAs.get(argument) ?? argument);
    return Object.hasOwn(parameters, name) || name === argument || !isShown ? [] : [{ tool: now.canonical, argument, alias: name }];
  });
  const added = Object.fromEntries(mends.map(({ alias, argument }) => [alias, argument]));
  const mended = { ...now, arguments: { ...now.arguments, alias: { ...now.arguments?.alias, ...added } } };
  return mends.length > 0 && accept(mended, args).length === 0 ? mends : [];
}
