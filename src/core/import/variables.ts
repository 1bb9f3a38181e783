import { placeholder } from '../project/expand-variables.ts';
import type { Members } from './members.ts';
import { secretName } from './names.ts';

/** An `input` of VS Code, for which the editor asks. */
type Input = { variable: string; isPassword: boolean };

/** Returns what a variable that the entry itself defines stands for; null for others. */
export type OwnVariables = (name: string) => string | null;

export type Variables = {
  /** `fault`: why the text cannot be used. */
  rewrite(text: string, own?: OwnVariables): { text: string; isSecret: boolean } | { fault: string };
};

/** `inputs`: the list of that name in a file of VS Code. `hasBare`: the program also expands `$NAME` within texts. */
export function createVariables({ inputs = [], hasBare = false }: { inputs?: readonly Members[]; hasBare?: boolean } = {}): Variables {
  const known = new Map<string, Input>();
  for (const input of inputs) {
    const id = input.text('id') ?? '';
    const isPassword = input.flag('password') === true;
    const preset = input.text('default') ?? '';
    input.ignore('type', 'description', 'options', 'command', 'args');
    const isUsable = preset !== '' && !isPassword && !preset.includes('}');
    if (preset !== '' && isPassword) input.fault('default', 'is not used: the default of a password is not a value for others');
    const variable = isUsable ? placeholder(`${secretName(id)}:-${preset}`) : placeholder(secretName(id));
    if (id !== '') known.set(id, { variable, isPassword });
  }
  return {
    rewrite(text, own) {
      if (text.length > maxTextLength) return { fault: `has a text of more than ${maxTextLength} characters` };
      return new Rewriting(known, own ?? (() => null)).run(hasBare ? braced(text) : text);
    },
  };
}

/** One text. */
class Rewriting {
  readonly #inputs: ReadonlyMap<string, Input>;
  readonly #own: OwnVariables;
  #isSecret = false;
  #fault: string | null = null;

  constructor(inputs: ReadonlyMap<string, Input>, own: OwnVariables) {
    this.#inputs = inputs;
    this.#own = own;
  }

  run(text: string): { text: string; isSecret: boolean } | { fault: string } {
    const whole = wholeVariable(text);
    const own = whole === null ? null : this.#own(whole);
    // A program that reads its own variables finds `$NAME` as it is written.
    if (own !== null) return { text: own.startsWith('$${') ? text : own, isSecret: false };
    const rewritten = this.#texts(whole === null ? text : placeholder(whole), 0);
    return this.#fault === null ? { text: rewritten, isSecret: this.#isSecret } : { fault: this.#fault };
  }

  #texts(text: string, depth: number): string {
    let rewritten = '';
    let from = 0;
    for (let at = nextStart(text, 0); at < text.length; at = nextStart(text, from)) {
      const end = endOf(text, at);
      // What is never closed is text, unless it has a default, whose end would be looked for in all that follows.
      if (end < 0 && /^\$\{\w{1,200}:-/.test(text.slice(at, at + 205)))
        this.#fault ??= `has the variable ${shown(text.slice(at, at + 205))} without its end`;
      rewritten += end < 0 ? text.slice(from, at + 1) : text.slice(from, at) + this.#variable(text.slice(at, end + 1), depth);
      from = (end < 0 ? at : end) + 1;
    }
    return rewritten + text.slice(from);
  }

  /** `whole`: `${…}`, `{env:…}` or `{file:…}`. */
  #variable(whole: string, depth: number): string {
    const inside = whole.slice(whole.startsWith('$') ? 2 : 1, -1);
    const [, kind = '', rest = ''] = /^(env|input|file|command|config):(.*)$/s.exec(inside) ?? [];
    if (kind === 'env') return this.#named(...split(rest, /:-?/), depth);
    if (kind === 'input') {
      const input = this.#inputs.get(rest);
      this.#isSecret ||= input?.isPassword ?? true;
      return input?.variable ?? placeholder(secretName(rest));
    }
    const place = places.get(inside);
    if (place !== undefined) return place;
    // Continue: `${{ secrets.NAME }}`.
    const [, source = '', secret = ''] = /^\{\s*(secrets|inputs)\.([\w.-]{1,100})\s*\}$/.exec(inside) ?? [];
    if (secret !== '') {
      this.#isSecret ||= source === 'secrets';
      return placeholder(secretName(secret));
    }
    if (/^[A-Za-z_][A-Za-z0-9_]*(:-.*)?$/s.test(inside) && !unknownPlaces.has(inside)) return this.#named(...split(inside, /:-/), depth);
    this.#fault ??= `uses ${shown(whole)}, which only the program that the file is for can fill in. Write the value itself, or \${NAME} for an environment variable`;
    return whole;
  }

  #named(name: string, preset: string | undefined, depth: number): string {
    const own = this.#own(name);
    if (own !== null) return own;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) this.#fault ??= `uses ${shown(placeholder(name))}, which is no name of a variable here`;
    if (preset === undefined) return placeholder(name);
    if (depth > 0 || /[{}]/.test(preset.replaceAll(/\$\{[^{}]*\}/g, '')))
      this.#fault ??= `uses ${shown(placeholder(name))} with a default that cannot be read. Write the value itself, or one default without braces`;
    return placeholder(`${name}:-${this.#texts(preset, depth + 1)}`);
  }
}

/** Returns the name of a variable that is the whole text: `$NAME`, `%NAME%`, `os.environ/NAME`, in capitals as such names are. */
function wholeVariable(text: string): string | null {
  const [, bare, percent, environ] =
    /^(?:\$([A-Z_][A-Z0-9_]*)|%([A-Z_][A-Z0-9_]*)%|os\.environ\/([A-Za-z_][A-Za-z0-9_]*))$/.exec(text) ?? [];
  return bare ?? percent ?? environ ?? null;
}

function braced(text: string): string {
  // In capitals, as such names are: `pa$$word` and `^a$b` are no variables.
  return text.replaceAll(
    /(?<!\$)\$([A-Z_][A-Z0-9_]*)(?![A-Za-z0-9_])|%([A-Za-z_][A-Za-z0-9_]*)%/g,
    (_whole, bare: string | undefined, percent: string) => placeholder(bare ?? percent),
  );
}

const starts = /\$\{|\{(?:env|file):/g;

/** Returns the place of the next variable; the length of the text if no variable follows. */
function nextStart(text: string, from: number): number {
  starts.lastIndex = from;
  return starts.exec(text)?.index ?? text.length;
}

/** Returns the place of the brace that closes the one after `at`; -1 if no brace is near. */
function endOf(text: string, at: number): number {
  let depth = 0;
  for (let index = at; index < Math.min(text.length, at + maxVariableLength); index += 1) {
    if (text[index] === '{') depth += 1;
    else if (text[index] === '}' && --depth === 0) return index;
  }
  return -1;
}

const maxVariableLength = 600;
/** More than any member of a server may have. */
const maxTextLength = 100_000;

/** `${env:NAME}` may have a default after another colon. */
function split(written: string, separator: RegExp): [name: string, preset: string | undefined] {
  const found = separator.exec(written);
  return found === null ? [written, undefined] : [written.slice(0, found.index), written.slice(found.index + found[0].length)];
}

/** The variable without its default, which may be a credential. */
function shown(whole: string): string {
  return /^\$?\{(?:file|command|config|input):/.test(whole) ? whole.slice(0, 80) : (/^\$?\{+\s*[\w.]*/.exec(whole)?.[0] ?? '').concat('}');
}

const places: ReadonlyMap<string, string> = new Map([
  ['workspaceFolder', placeholder('PWD')],
  ['workspaceRoot', placeholder('PWD')],
  ['cwd', placeholder('PWD')],
  ['userHome', placeholder('HOME')],
  ['pathSeparator', '/'],
  ['/', '/'],
]);

/** Names of VS Code and Cursor that are not environment variables. */
const unknownPlaces: ReadonlySet<string> = new Set([
  'workspaceFolderBasename',
  'workspaceRootFolderName',
  'file',
  'fileBasename',
  'fileDirname',
  'relativeFile',
  'execPath',
  'selectedText',
  'lineNumber',
  'extensionPath',
]);
