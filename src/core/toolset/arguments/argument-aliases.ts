/**
 * Other names of a tool's arguments, which models use from habit or from an earlier version of the tool (contract §4). As with names of
 * tools, the exact name comes first, then other spellings of an alias; a parameter of the tool is never covered.
 */
import type { EntryArguments, ToolsetEntry } from '../toolset.ts';
import { fold } from '../../names/fold.ts';
import type { Issue, Warning } from '../../problem.ts';
import { sameJson } from '../../schema/schema-parts.ts';
import type { JsonSchema, ToolDefinition } from '../../tools/tool.ts';
import { isRecord } from '../../json/wire-value.ts';

type Arguments = Record<string, unknown>;
type Alias = { name: string; argument: string; mode: 'announced' | 'hidden' | 'deprecated'; note?: string | undefined };

/** `argument`: the tool's own name. */
export function argumentAliases(rules: EntryArguments | undefined): Alias[] {
  return Object.entries(rules?.alias ?? {}).map(([name, written]) =>
    typeof written === 'string' ? { name, argument: written, mode: 'hidden' } : { ...written, name },
  );
}

/**
 * Returns the arguments with the shown name of each argument that was given under an alias. `issues`: an argument that was given under two
 * names with different values. `notes`: for the model, of deprecated aliases.
 */
export function withoutAliases(
  rules: EntryArguments | undefined,
  shown: JsonSchema,
  args: Arguments,
): { args: Arguments; issues: Issue[]; notes: string[] } {
  const aliases = argumentAliases(rules);
  if (aliases.length === 0) return { args, issues: [], notes: [] };
  const parameters = isRecord(shown.properties) ? shown.properties : {};
  const shownNames = new Map(Object.entries(rules?.rename ?? {}).map(([name, own]) => [own, name]));
  const isOwn = (name: string): boolean =>
    Object.hasOwn(parameters, name) || Object.hasOwn(rules?.rename ?? {}, name) || shownNames.has(name);
  const given = new Map(Object.entries(args).filter(([name]) => aliasOf(aliases, name, isOwn) === undefined));
  const issues: Issue[] = [];
  const notes: string[] = [];
  for (const [name, value] of Object.entries(args)) {
    const alias = aliasOf(aliases, name, isOwn);
    if (alias === undefined) continue;
    const current = shownNames.get(alias.argument) ?? alias.argument;
    const other = [current, alias.argument].find((one) => given.has(one));
    if (other !== undefined && !sameJson(given.get(other), value))
      issues.push({ path: name, message: `is another name of ${current}, which is given too; give one of them` });
    else if (other === undefined) given.set(current, value);
    if (alias.mode === 'deprecated') notes.push(`[The argument ${alias.name} is deprecated: ${alias.note ?? `use ${current}`}.]`);
  }
  return { args: Object.fromEntries(given), issues, notes };
}

/** Two aliases that fold to one name differ only by their exact names. */
function aliasOf(aliases: readonly Alias[], name: string, isOwn: (name: string) => boolean): Alias | undefined {
  if (isOwn(name)) return undefined;
  const exact = aliases.find((alias) => alias.name === name);
  if (exact !== undefined) return exact;
  const folded = fold(name);
  const [like, ...others] = folded === '' ? [] : aliases.filter((alias) => fold(alias.name) === folded);
  return others.every(({ argument }) => argument === like?.argument) ? like : undefined;
}

/** Of the announced aliases, by the tool's own name of the argument. */
export function announcedAliases(rules: EntryArguments): Map<string, string[]> {
  const announced = argumentAliases(rules).filter(({ mode }) => mode === 'announced');
  return new Map([...Map.groupBy(announced, ({ argument }) => argument)].map(([own, aliases]) => [own, aliases.map(({ name }) => name)]));
}

/** Aliases that are never used. A server may have added the parameter after the toolset was written, so they are no errors. */
export function coveredAliases({
  source,
  definition,
  path,
}: {
  source: ToolsetEntry;
  definition: ToolDefinition | null;
  path: string;
}): Warning[] {
  const properties = definition?.inputSchema.properties;
  const parameters = isRecord(properties) ? Object.keys(properties) : [];
  return argumentAliases(source.arguments).flatMap(({ name, argument }): Warning[] => {
    const own = parameters.find((one) => one === name) ?? Object.keys(source.arguments?.rename ?? {}).find((one) => one === name);
    if (own === undefined) return [];
    const message = `the tool itself has an argument ${name}, so this alias of ${argument} is never used`;
    return [{ path: `${path}.arguments.alias.${name}`, message }];
  });
}
