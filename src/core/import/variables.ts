/**
 * Variables of other systems' files, rewritten to those of a project file: `${NAME}` and `${NAME:-default}`, which the command line expands
 * from its environment. VS Code, "Variables reference"; Cursor, "Config interpolation"; Claude Code, "Environment variable expansion".
 */
import { listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { placeholder } from '../project/expand-variables.ts';
import { secretName } from './names.ts';

/** An `input` of VS Code, for which the editor asks. */
type Input = { variable: string; isPassword: boolean };

export type Variables = {
  /** `fault`: why the text cannot be used. */
  rewrite(text: string): { text: string; isSecret: boolean } | { fault: string };
};

/** `inputs`: the list of that name in a file of VS Code. */
export function createVariables(inputs: unknown = []): Variables {
  const known = new Map<string, Input>();
  for (const value of listOf(inputs)) {
    const { id, password, default: preset } = recordOf(value);
    if (typeof id !== 'string' || id === '') continue;
    const isUsable = typeof preset === 'string' && preset !== '' && password !== true && !preset.includes('}');
    known.set(id, { variable: isUsable ? `\${${secretName(id)}:-${preset}}` : `\${${secretName(id)}}`, isPassword: password === true });
  }
  return {
    rewrite(text) {
      let isSecret = false;
      let fault: string | null = null;
      const rewritten = text.replace(/\$\{([^{}]{0,500})\}/g, (whole, inside: string) => {
        const [, kind = '', rest = ''] = /^(env|input|file|command|config):(.*)$/.exec(inside) ?? [];
        if (kind === 'env') return environmentVariable(rest);
        if (kind === 'input') {
          const input = known.get(rest);
          isSecret ||= input?.isPassword ?? true;
          return input?.variable ?? `\${${secretName(rest)}}`;
        }
        const place = places.get(inside);
        if (place !== undefined) return place;
        if (/^[A-Za-z_][A-Za-z0-9_]*(:-.*)?$/.test(inside) && !unknownPlaces.has(inside)) return whole;
        fault ??= `uses ${whole.slice(0, 80)}, which only the program that the file is for can fill in. Write the value itself, or \${NAME} for an environment variable`;
        return whole;
      });
      return fault === null ? { text: rewritten, isSecret } : { fault };
    },
  };
}

/** Returns the NAME of LiteLLM's `os.environ/NAME`; null for other texts. */
export function osEnviron(text: string): string | null {
  return /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1] ?? null;
}

/** Returns `${NAME}` for LiteLLM's `os.environ/NAME`, other texts unchanged. */
export function fromOsEnviron(value: unknown): string {
  const text = stringOf(value);
  const name = osEnviron(text);
  return name === null ? text : placeholder(name);
}

/** Whether a text is one variable and nothing else; returns its name. */
export function onlyVariable(text: string): string | null {
  return /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}$/.exec(text)?.[1] ?? null;
}

/** `${env:NAME}` may have a default after another colon. */
function environmentVariable(written: string): string {
  const [name = '', preset] = written.split(/:-?/, 2);
  return preset === undefined ? `\${${name}}` : `\${${name}:-${preset}}`;
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
