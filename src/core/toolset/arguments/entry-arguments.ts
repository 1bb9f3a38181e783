/**
 * The arguments of a call to a toolset entry: what the model gave under the names it was shown, and what the tool receives after the
 * rules of the entry are applied (`toolset.ts`). The schema shown to the model is in `strict-schema.ts`. Secrets are names here:
 * their values are inserted when the call is sent (`engine/call/execute-call.ts`). Used by the call path, dry runs and audit rows.
 */
import type { EntryArguments } from '../toolset.ts';
import { isRecord } from '../../json/wire-value.ts';
import { type Issue, issuePath } from '../../problem.ts';
import { withCurrentNames } from '../../tools/code-tools.ts';

type Arguments = Record<string, unknown>;

/**
 * The meaning of a preset. An object with a single member of one of these names is never a literal value; the author of the toolset
 * is warned.
 */
export type Preset = { kind: 'value'; value: unknown } | { kind: 'secret'; secret: string } | { kind: 'caller'; field: string };

export function readPreset(written: unknown): Preset {
  if (isRecord(written) && Object.keys(written).length === 1) {
    const { secret, caller } = written;
    if (typeof secret === 'string') return { kind: 'secret', secret };
    if (typeof caller === 'string') return { kind: 'caller', field: caller };
    if (Object.hasOwn(written, 'value')) return { kind: 'value', value: written.value };
  }
  return { kind: 'value', value: written };
}

/** Returns the presets whose values are known when the toolset is compiled. */
export function presetValues(preset: NonNullable<EntryArguments['preset']>): Arguments {
  const entries = Object.entries(preset).map(([name, written]) => [name, readPreset(written)] as const);
  return Object.fromEntries(entries.flatMap(([name, read]) => (read.kind === 'value' ? [[name, read.value]] : [])));
}

/** `given`: the arguments by shown name. `ignored`: names that a call cannot set; their values are dropped. */
type GivenArguments = { given: Arguments; ignored: string[] };

/**
 * Returns the arguments of a call by shown name. A model that knows the tool from elsewhere may use the tool's own name of a renamed
 * argument; it is accepted if the shown name is absent. Values for preset arguments are always dropped.
 */
export function givenArguments(rules: EntryArguments | undefined, args: Arguments): GivenArguments {
  if (rules === undefined) return { given: args, ignored: [] };
  const hidden = new Set(Object.keys(rules.preset ?? {}));
  const shown = new Map(Object.entries(rules.rename ?? {}).map(([shownName, own]) => [own, shownName]));
  const given = new Map<string, unknown>();
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(args)) {
    const as = Object.hasOwn(rules.rename ?? {}, name) ? name : (shown.get(name) ?? name);
    if (hidden.has(name) || (as !== name && Object.hasOwn(args, as))) ignored.push(name);
    else given.set(as, value);
  }
  return { given: Object.fromEntries(given), ignored };
}

/** `missing`: a caller field that a preset uses and the key does not have. */
type ToolArguments = { ok: true; own: Arguments } | { ok: false; missing: string };

/**
 * Returns the arguments that the tool receives, by its own names: the given ones, defaults for those left out, and presets over both.
 * A secret is represented as `{secret: NAME}`.
 */
export function toToolArguments(
  rules: EntryArguments | undefined,
  given: Arguments,
  caller: Readonly<Record<string, string>> | undefined,
): ToolArguments {
  if (rules === undefined) return { ok: true, own: given };
  const rename = new Map(Object.entries(rules.rename ?? {}));
  const own = new Map(Object.entries(given).map(([name, value]) => [rename.get(name) ?? name, value]));
  for (const [name, value] of Object.entries(rules.default ?? {})) if (!own.has(name)) own.set(name, value);
  for (const [name, written] of Object.entries(rules.preset ?? {})) {
    const preset = readPreset(written);
    switch (preset.kind) {
      case 'value':
        own.set(name, preset.value);
        break;
      case 'secret':
        own.set(name, { secret: preset.secret });
        break;
      case 'caller':
        if (caller === undefined || !Object.hasOwn(caller, preset.field)) return { ok: false, missing: preset.field };
        own.set(name, caller[preset.field]);
        break;
      default:
        preset satisfies never;
    }
  }
  return { ok: true, own: Object.fromEntries(own) };
}

/** Returns the rules of an entry under the current names of the tool's arguments; `issues`: of names that would mean the same argument. */
export function withCurrentRules(
  rules: EntryArguments,
  renamed: Readonly<Record<string, string>>,
): { rules: EntryArguments; issues: Issue[] } {
  const issues: Issue[] = [];
  const current = <Member extends 'preset' | 'default'>(member: Member): Pick<EntryArguments, Member> => {
    const named = withCurrentNames(renamed, rules[member] ?? {});
    issues.push(...named.issues.map(({ path, message }) => ({ path: issuePath([member, path]), message })));
    return (rules[member] === undefined ? {} : { [member]: named.args }) as Pick<EntryArguments, Member>; // Only the names differ.
  };
  const rename = Object.entries(rules.rename ?? {}).map(([shown, own]) => [shown, renamed[own] ?? own]);
  const alias = Object.entries(rules.alias ?? {}).map(([name, written]) => {
    const own = typeof written === 'string' ? written : written.argument;
    const argument = renamed[own] ?? own;
    return [name, typeof written === 'string' ? argument : { ...written, argument }];
  });
  const named = { ...(rules.rename && { rename: Object.fromEntries(rename) }), ...(rules.alias && { alias: Object.fromEntries(alias) }) };
  return { rules: { ...current('preset'), ...named, ...current('default') }, issues };
}

/** Maps the tool's own argument names to the secrets inserted there. Only presets of the entry count: a model cannot name a secret. */
export function secretArguments(rules: EntryArguments | undefined): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const [name, written] of Object.entries(rules?.preset ?? {})) {
    const preset = readPreset(written);
    if (preset.kind === 'secret') secrets.set(name, preset.secret);
  }
  return secrets;
}
