/** Checks and compiles entries with several targets, and those whose results are stored (`entry-targets.ts`). Few toolsets have one, so it is loaded for them. */
import { isRecord, listOf } from '../../json/wire-value.ts';
import { quote } from '../../names/names.ts';
import type { Issue } from '../../problem.ts';
import { acceptsAll } from '../../schema/schema-accepts.ts';
import { isServerKind, type JsonSchema, type ToolDefinition } from '../../tools/tool.ts';
import { checkEntryArguments } from '../arguments/check-arguments.ts';
import { type EditionTool, onlyReads, trustOf, trustsAnnotations } from '../edition-tool.ts';
import { targetPath } from './entry-targets.ts';
import type { KnownTools } from '../known-tools.ts';
import type { NamedEntry } from '../named-entry.ts';

type CheckedEntry = Pick<NamedEntry, 'path' | 'source' | 'definition' | 'others'>;

/** Returns all faults; presets, renames and defaults have to fit every target. */
export function targetIssues(entry: CheckedEntry, known: KnownTools): Issue[] {
  const faults = entry.others.flatMap((definition) => checkEntryArguments({ ...entry, definition }, known));
  return [...faults, ...checkTargets(entry), ...checkCache(entry, known)];
}

/** Returns a fault for each target that does not accept every call that the first one accepts. */
function checkTargets({ path, source, definition, others }: CheckedEntry): Issue[] {
  if (definition === null || others.length === 0) return [];
  const { preset = {}, default: defaults = {} } = source.arguments ?? {};
  const always = [...Object.keys(preset), ...Object.keys(defaults)];
  const first = { ...definition.inputSchema, required: [...listOf(definition.inputSchema.required), ...always] };
  return [definition, ...others].flatMap((target, index): Issue[] => {
    const at = `${path}.${targetPath(source, index)}`;
    if (!isServerKind(target.kind))
      return [{ path: at, message: `${target.canonical} is not a tool of a server; only those can be one of several targets` }];
    if (index === 0) return [];
    return differences(target, first, definition.canonical).map((message) => ({ path: at, message }));
  });
}

function differences({ canonical, inputSchema: own }: ToolDefinition, first: JsonSchema, than: string): string[] {
  const faults = Object.entries(propertiesOf(first)).flatMap(([name, part]) => {
    const taken = propertiesOf(own)[name];
    if (taken === undefined) return [`${canonical} has no argument ${quote(name)}, which ${than} accepts`];
    if (acceptsAll(within(own, taken), within(first, part), 'missed')) return [];
    return [`the argument ${quote(name)} of ${canonical} does not accept every value that ${than} accepts`];
  });
  const missing = listOf(own.required).filter((name) => !listOf(first.required).includes(name));
  faults.push(...missing.map((name) => `${canonical} requires the argument ${quote(String(name))}, which a call of ${than} may leave out`));
  if (faults.length > 0 || acceptsAll(own, first, 'missed')) return faults;
  return [`the schema of ${canonical} does not accept every call that ${than} accepts`];
}

function propertiesOf({ properties }: JsonSchema): Record<string, unknown> {
  return isRecord(properties) ? Object.fromEntries(Object.entries(properties)) : {};
}

/** Returns a part of a schema, with what its references name. */
function within({ $defs, definitions }: JsonSchema, part: unknown): JsonSchema {
  return {
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    ...(isRecord(part) ? part : { allOf: [part] }),
  };
}

/** Returns why results of the entry cannot be cached; empty if they can. */
function checkCache({ path, source, definition, others }: CheckedEntry, known: KnownTools): Issue[] {
  const { cache } = source;
  if (cache === undefined || definition === null) return [];
  return [definition, ...others].flatMap((target): Issue[] => {
    const { canonical, kind, annotations, server, source: listing } = target;
    const asked = { kind, ...(annotations && { annotations }), ...trustOf(listing) };
    if (!onlyReads(asked)) {
      const why =
        isServerKind(kind) && annotations?.readOnlyHint === true
          ? 'says that it only reads, but its annotations are not accepted'
          : 'is no tool of a server that only reads';
      return [{ path: `${path}.cache`, message: `${canonical} ${why}, so its results are not cached` }];
    }
    if (cache.per === 'workspace' && known.isPerUser?.(server) === true)
      return [{ path: `${path}.cache.per`, message: `each user has an account at the server ${server}; use "key"` }];
    return [];
  });
}

/** Returns the tools, each with the strictest annotations of all and trusted only if all are: approvals are the same whichever runs. */
export function underStrictest(tools: readonly EditionTool[]): EditionTool[] {
  const all = (hint: 'readOnlyHint' | 'idempotentHint'): boolean => tools.every(({ annotations }) => annotations?.[hint] === true);
  const isEvery = (hint: 'destructiveHint' | 'openWorldHint'): boolean => tools.every(({ annotations }) => annotations?.[hint] === false);
  const destroys = tools.some(({ annotations }) => annotations?.destructiveHint === true);
  const hints = {
    readOnlyHint: all('readOnlyHint'),
    idempotentHint: all('idempotentHint'),
    ...(destroys ? { destructiveHint: true } : isEvery('destructiveHint') && { destructiveHint: false }),
    ...(isEvery('openWorldHint') && { openWorldHint: false }),
  };
  const areApplicable = tools.every(trustsAnnotations);
  const areTrusted = tools.every(({ trusted }) => trusted === true) || (hints.readOnlyHint && areApplicable);
  return tools.map(({ annotations, trusted, annotationsAccepted, ...tool }): EditionTool => {
    const { title } = annotations ?? {};
    return {
      ...tool,
      annotations: { ...(title !== undefined && { title }), ...hints },
      ...(areTrusted && trusted === true && { trusted }),
      ...(areApplicable && annotationsAccepted === true && { annotationsAccepted }),
    };
  });
}
