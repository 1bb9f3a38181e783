/** Values in the files of Bifrost, which may be in the environment. */
import { isRecord } from '../../json/wire-value.ts';
import { placeholder } from '../../project/expand-variables.ts';
import type { Members } from '../members.ts';
import type { Credential } from './cloud-services.ts';

/** A text, or `{value, env_var, from_env}`; `env.NAME` is a variable. */
export function readBifrostValue(from: Members | null, ...names: string[]): Credential | null {
  const name = names.find((one) => from?.has(one));
  if (from === null || name === undefined) return null;
  const value = from.peek(name);
  if (!isRecord(value)) {
    const text = from.text(name) ?? '';
    return text === '' ? null : fromEnv(text);
  }
  const record = from.record(name);
  const text = record?.text('env_var', 'ref', 'value') ?? '';
  const isVariable = record?.has('env_var') === true || record?.has('ref') === true;
  record?.ignore('value', 'from_env', 'type');
  return text === '' ? null : fromEnv(isVariable && !text.startsWith('env.') ? `env.${text}` : text);
}

export function fromEnv(text: string): Credential {
  const variable = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1] ?? null;
  return { text: variable === null ? text : placeholder(variable), variable };
}
