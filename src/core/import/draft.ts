/**
 * Collects what a reader finds in a file of another system: documents under legal names, the secrets that they refer to, what was left
 * out, and warnings. Each document is checked with its schema when it is added, so that a bad one is skipped and the others stay.
 */
import type * as z from 'zod';
import { Agent } from '../turn/agent.ts';
import { collectParts, isRecord, type Json, listOf, stringOf } from '../json/wire-value.ts';
import { MadeTool } from '../tools/made-tool.ts';
import { ModelAlias } from '../model/model-alias.ts';
import { Provider } from '../model/provider.ts';
import { firstWarnings, Problem, quoted, type Warning, parsePart } from '../problem.ts';
import type { Project } from '../project/project.ts';
import { Server } from '../servers/server.ts';
import { Toolset } from '../toolset/toolset.ts';
import { Members } from './members.ts';
import { type ImportedKind, importedKinds, isShortened, legalAlias, legalName, numberedName, secretName } from './names.ts';
import { cutToLength } from '../text/utf8.ts';

/** `name`: as written in the file. */
export type Skipped = { name: string; reason: string };

export type ImportResult = { format: string; project: Project; skipped: Skipped[]; warnings: Warning[] };

/** Documents, secrets and skipped things of one file. */
const maxImported = 5_000;

/** Rows for members that no reader knows, and warnings. */
const maxListed = 500;
const unreadReason = 'is not known to this import, so that nothing was taken from it';

const schemas: Readonly<Partial<Record<ImportedKind, z.ZodType>>> = {
  providers: Provider,
  modelAliases: ModelAlias,
  servers: Server,
  tools: MadeTool,
  toolsets: Toolset,
  agents: Agent,
};

type DraftSecret = { value: string | null; hosts: Set<string> };

export class ImportDraft {
  readonly #documents = new Map<ImportedKind, Map<string, Json>>();
  /** Written name → name, by kind. */
  readonly #names = new Map<string, string>();
  readonly #secrets = new Map<string, DraftSecret>();
  readonly #nameMap = new Map<string, string>();
  readonly #skipped: Skipped[] = [];
  readonly #warnings: Warning[] = [];
  readonly #opened: Members[] = [];
  readonly #reserved = new Set<string>();
  /** The number of the last document of a legal form. */
  readonly #numbers = new Map<string, number>();
  #count = 0;

  /** Returns the members of a file's value. What no reader takes is listed in the result. `path`: of a value that a reader has made of a part. */
  open(value: Json, path = ''): Members {
    const members = new Members(value, path, ({ path, reason, isTaken }) => (isTaken ? this.warn(path, reason) : this.skip(path, reason)));
    this.#opened.push(members);
    return members;
  }

  /**
   * Adds a document under a legal, free name and returns that name; null if it is invalid, which is then listed as skipped. `place`: its
   * path in the file.
   */
  add(kind: ImportedKind, written: string, document: Json, place: string = written): string | null {
    const checked = check(kind, document);
    if ('issues' in checked) {
      const [issue] = checked.issues;
      this.skip(place, `${issue?.path === '' ? '' : `${issue?.path}: `}${issue?.message ?? 'is not valid'}`);
      return null;
    }
    this.#countOne();
    const documents = this.#documents.get(kind) ?? new Map<string, Json>();
    this.#documents.set(kind, documents);
    const legal = legalName(kind, written);
    const name = this.freeName(kind, written);
    documents.set(name, document);
    this.#names.set(`${kind}\n${written}`, name);
    const fault = name !== legal ? 'the name of two' : isShortened(kind, written) ? 'too long and was shortened' : 'not a legal name';
    if (name !== written && `made.${written}` !== name)
      this.warn(`${kind}.${name}`, `${quoted(written)} is ${fault}: the ${importedKinds[kind].noun} is called ${quoted(name)}`);
    return name;
  }

  /** Adds members to a document of this file. Returns false if it is invalid then, and leaves it as it was. */
  amend(kind: ImportedKind, name: string, members: Json): boolean {
    const documents = this.#documents.get(kind);
    const document = { ...documents?.get(name), ...members };
    if (documents === undefined || 'issues' in check(kind, document)) return false;
    documents.set(name, document);
    return true;
  }

  /** Keeps names of the file that are legal as they are from others of the same legal form, whatever comes first. */
  reserve(kind: ImportedKind, written: readonly string[]): void {
    for (const name of written) if (legalName(kind, name) === name) this.#reserved.add(`${kind}\n${name}`);
  }

  /** Returns the name that `add` gives the next document of this written name. */
  freeName(kind: ImportedKind, written: string): string {
    const documents = this.#documents.get(kind);
    const legal = legalName(kind, written);
    const form = `${kind}\n${legal}`;
    let name = this.#numbers.has(form) && legal !== written ? numberedName(kind, legal, this.#numbers.get(form) ?? 2) : legal;
    const isTaken = (): boolean => documents?.has(name) === true || (name !== written && this.#reserved.has(`${kind}\n${name}`));
    for (let number = this.#numbers.get(form) ?? 2; isTaken(); number += 1) {
      name = numberedName(kind, legal, number);
      this.#numbers.set(form, number);
    }
    return name;
  }

  /** Returns the name of a document that this file names; for one of another file, the name that its import gives it. */
  nameOf(kind: ImportedKind, written: string): string {
    return this.#names.get(`${kind}\n${written}`) ?? legalName(kind, written);
  }

  has(kind: ImportedKind, written: string): boolean {
    return this.#names.has(`${kind}\n${written}`);
  }

  /**
   * Returns the name of a secret with this value. `names`: the first that is free or has the same value is taken. `value` null: the
   * file does not contain it. `host`: the only host that it may be sent to; undefined: that of the documents that name it.
   */
  secret(names: readonly string[], value: string | null, host?: string): string {
    const legal = names.map((name) => secretName(name));
    let name = legal.find((one) => this.#isSame(one, value));
    for (let number = 2; name === undefined; number += 1) {
      const numbered = `${legal.at(-1) ?? 'SECRET'}_${number}`;
      if (this.#isSame(numbered, value)) name = numbered;
    }
    const known = this.#secrets.get(name);
    if (known === undefined) this.#countOne();
    const secret = known ?? { value, hosts: new Set<string>() };
    if (host !== undefined) secret.hosts.add(host);
    this.#secrets.set(name, secret);
    return name;
  }

  /** Adds a name of another system for a tool. */
  mapName(written: string, target: string): void {
    this.#countOne();
    this.#nameMap.set(written, target);
  }

  skip(name: string, reason: string): void {
    this.#countOne();
    this.#skipped.push({ name: cutToLength(name, 200), reason });
  }

  /** Returns the legal form of an alias; null if there is none, which is reported. `from`: what it was read from, and what it is for. */
  alias(from: { skipped: string; warned: string }, written: unknown): string | null {
    const text = stringOf(written).trim();
    const alias = legalAlias(text);
    if (alias === null) this.skip(from.skipped, `${quoted(text)} cannot be an alias`);
    else if (alias !== text) this.warn(from.warned, `the alias ${quoted(text)} is not legal: it is ${alias}`);
    return alias;
  }

  warn(path: string, message: string): void {
    if (this.#warnings.length <= maxImported) this.#warnings.push({ path, message });
  }

  result(format: string): ImportResult {
    const unread = this.#opened.flatMap((members) => members.unread());
    for (const path of unread.slice(0, maxListed)) this.skip(path, unreadReason);
    if (unread.length > maxListed) this.skip(`${unread.length - maxListed} other members`, unreadReason);
    const documents = Object.fromEntries([...this.#documents].map(([kind, all]) => [kind, Object.fromEntries(all)]));
    const used = secretsIn(documents);
    const secrets = [...this.#secrets].filter(([name]) => used.has(name));
    const project: Project = {
      ...(secrets.length > 0 && { secrets: Object.fromEntries(secrets.map(([name, secret]) => [name, toSecret(secret)])) }),
      ...documents,
      ...(this.#nameMap.size > 0 && { workspace: { settings: { nameMap: Object.fromEntries(this.#nameMap) } } }),
    } as Project;
    return { format, project, skipped: this.#skipped, warnings: firstWarnings(this.#warnings, 'warnings', maxListed) };
  }

  #isSame(name: string, value: string | null): boolean {
    const known = this.#secrets.get(name);
    return known === undefined || known.value === value;
  }

  #countOne(): void {
    this.#count += 1;
    if (this.#count > maxImported)
      throw new Problem(
        'body_too_large',
        `The file names more than ${maxImported} things. Split it, and import the parts one after another.`,
      );
  }
}

/** Stand for what a variable names once the command line has expanded it: an absolute folder, a URL. */
const expanded: Json = {
  ...{ cwd: '/', baseUrl: 'https://variable.invalid/v1' },
  ...{ region: 'us-east-1', project: 'variable', apiVersion: 'v1' },
};

function check(kind: ImportedKind, document: Json): ReturnType<typeof parsePart> {
  const schema = schemas[kind];
  if (schema === undefined) return { data: document };
  const variables = Object.keys(expanded).filter((member) => stringOf(document[member]).startsWith('${'));
  return parsePart(schema, { ...document, ...Object.fromEntries(variables.map((member) => [member, expanded[member]])) });
}

function toSecret({ value, hosts }: DraftSecret): Json {
  return { ...(value !== null && { value }), ...(hosts.size > 0 && { hosts: [...hosts] }) };
}

/** Returns the names of the secrets that documents refer to. */
function secretsIn(root: unknown): Set<unknown> {
  const parts = (collectParts(root, Number.POSITIVE_INFINITY) ?? []).filter(isRecord);
  return new Set(parts.flatMap(({ secret, apiKeySecret, apiKeySecrets }) => [secret, apiKeySecret, ...listOf(apiKeySecrets)]));
}
