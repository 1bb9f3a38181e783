/**
 * Texts in the entry of an MCP server, with their variables: as plain text, or as a secret if they contain a credential. What became a secret
 * is reported with its place and name, never with its value.
 */
import { onlyVariable } from '../project/expand-variables.ts';
import { credentialArguments, isCredentialName, isPlaceholder, mayBeCredential } from '../secrets/credentials.ts';
import type { ImportDraft } from './draft.ts';
import type { Members, WrittenValue } from './members.ts';
import type { OwnVariables, Variables } from './variables.ts';

/** Why a server cannot be taken. */
export class ServerRefusal extends Error {}

/** Returns what `add` returns; null if it refuses the server, which is then skipped with the reason. */
export function unlessRefused<Added>(members: Members, add: () => Added): Added | null {
  try {
    return add();
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    members.skipWhole(error.message);
    return null;
  }
}

/** The entry that is read. `notes`: what is reported of it if the server can be added. */
export type ServerReading = {
  draft: ImportDraft;
  /** Its name in the file. */
  written: string;
  members: Members;
  variables: Variables;
  notes: [path: string, text: string][];
};

type Named = {
  /** The variable, header, option or parameter. */
  key: string;
  text: string;
  /** In the file. */
  path: string;
  /** For the secret: the first that is free. */
  names: readonly string[];
  /** Undefined: that of the document that names the secret. */
  host: string | undefined;
  own?: OwnVariables;
};

/** Returns the text or a reference to its secret; undefined if it was left out. Texts with variables are rewritten. */
export function namedValue(reading: ServerReading, { key, text, path, names, host, own }: Named): string | { secret: string } | undefined {
  const filled = reading.variables.rewrite(text, own);
  if ('fault' in filled) {
    // A secret has a place for the value, which other texts have not.
    if (!isCredentialName(key)) throw new ServerRefusal(filled.fault);
    return secretOf(reading, { names, value: null, path, host });
  }
  const variable = onlyVariable(filled.text);
  if (isPlaceholder(filled.text)) {
    if (isCredentialName(key) || /^(Bearer|Basic|token)\s/i.test(filled.text)) return secretOf(reading, { names, value: null, path, host });
    reading.draft.skip(path, 'is a placeholder, so that it was left out: set its value');
    return undefined;
  }
  const isHidden = filled.isSecret || mayBeCredential(key, filled.text) || (variable !== null && isCredentialName(variable));
  if (!isHidden) return filled.text;
  return secretOf(reading, { names: variable === null ? names : [variable, ...names], value: filled.text, path, host });
}

/** Returns the values by name, without those that were left out. `names`: for the secret of a value. */
export function namedValues(
  reading: ServerReading,
  written: readonly WrittenValue[],
  { names, ...where }: { names(name: string): readonly string[] } & Pick<Named, 'host' | 'own'>,
): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const { name, text, path } of written) {
    const value = namedValue(reading, { key: name, text, path, names: names(name), ...where });
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

/** Returns the arguments of a command. Variables of `env` stay, for the program to fill in. */
export function argumentValues(
  reading: ServerReading,
  args: readonly string[],
  { host, own, pathOf }: { host: string; own: OwnVariables; pathOf: (index: number) => string },
): (string | { secret: string })[] {
  const texts = args.map((argument) => fill(reading, argument, own).text);
  // What the program fills in is no credential here.
  const hidden = credentialArguments(texts.map((text) => text.replaceAll(/(?:(?:Bearer|Basic|token)\s+)?\$\$\{\w+\}|^\$\w+$/gi, '')));
  return texts.map((text, index) => {
    if (isPlaceholder(text) && !hidden.has(index)) reading.notes.push([pathOf(index), 'is a placeholder: write its value']);
    if (!hidden.has(index)) return text;
    const names = [`${reading.written}_${argumentName(texts, index)}`];
    return secretOf(reading, { names, value: isPlaceholder(text) ? null : text, path: pathOf(index), host });
  });
}

type NewSecret = { names: readonly string[]; value: string | null; path: string; host?: string | undefined };

/** Adds a secret and says so. `value`: null if the file has a placeholder, or something that cannot be read. */
export function secretOf({ draft, notes }: ServerReading, { names, value, path, host }: NewSecret): { secret: string } {
  const secret = draft.secret(names, value, host);
  notes.push([
    path,
    value === null ? `has no value: store it as the secret ${secret}` : `is a credential, and became the secret ${secret}`,
  ]);
  return { secret };
}

/** Returns the text with its variables rewritten. Throws `ServerRefusal`. */
export function fill({ variables }: ServerReading, text: string, own?: OwnVariables): { text: string; isSecret: boolean } {
  const filled = variables.rewrite(text, own);
  if ('fault' in filled) throw new ServerRefusal(filled.fault);
  return filled;
}

/** `--api-key x` → `API_KEY`. */
function argumentName(args: readonly string[], index: number): string {
  const own = /^(?:--?)?([A-Za-z_][\w.-]*)(?:=|:(?!\/\/))/.exec(args[index] ?? '')?.[1];
  const before = /^--?([A-Za-z][\w.-]+)$/.exec(args[index - 1] ?? '')?.[1];
  const isUrl = /:\/\//.test(args[index] ?? '');
  return own ?? before ?? (isUrl ? 'url' : `argument_${index + 1}`);
}
