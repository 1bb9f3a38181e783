/**
 * The arguments of a call of a toolset entry: what a model gave under the names that it was shown, and what the tool is sent because
 * of the entry's rules (`entry-rules.ts`). The schema that the model was shown is `shown-schema.ts`. Secrets stay names here: their
 * values are put in when the call is sent (`engine/execute-call.ts`). Used by the call door, dry runs and audit rows.
 */
import type { EntryArguments } from './entry-rules.ts';
import { isRecord } from './wire-value.ts';

type Arguments = Record<string, unknown>;

/** How a preset is meant. An object of one member named like these is never a plain value: the writer of such a toolset is told. */
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

/** `given`: under shown names. `ignored`: what was given under names that cannot be set, and is dropped. */
export type GivenArguments = { given: Arguments; ignored: string[] };

/**
 * What a call gave, under the names that are shown. A model that knows the tool from elsewhere may use its own name of a renamed
 * argument; that is taken where the shown name is absent. Values for preset arguments are dropped, whatever they are.
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

/** `missing`: a field that the key of this caller does not have, and that a preset takes. */
export type OwnArguments = { ok: true; own: Arguments } | { ok: false; missing: string };

/**
 * What the tool is sent, by its own names: what was given, defaults where that is silent, and presets over all of it. A secret
 * stands as `{secret: NAME}`.
 */
export function ownArguments(
  rules: EntryArguments | undefined,
  given: Arguments,
  caller: Readonly<Record<string, string>> | undefined,
): OwnArguments {
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

/** The tool's own argument name → the secret that is put there. Only what the entry presets: a model cannot name one. */
export function secretArguments(rules: EntryArguments | undefined): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const [name, written] of Object.entries(rules?.preset ?? {})) {
    const preset = readPreset(written);
    if (preset.kind === 'secret') secrets.set(name, preset.secret);
  }
  return secrets;
}
