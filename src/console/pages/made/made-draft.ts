/** The document of a made tool in the editor. Pure. */
import type { components } from '../../../../client/src/index.ts';
import { jsonOrText } from '../../text/json.ts';

type Schemas = components['schemas'];
export type MadeDraft = Schemas['MadeTool'];
export type MadeParameterDraft = Schemas['MadeParameter'];

export const blankMadeTool: MadeDraft = {
  description: '',
  parameters: [{ name: 'path', type: 'string', description: 'The file', required: true }],
  implementation:
    'const file = await tools.read_file({ path: args.path });\nif (!file.success) return { error: file.error };\nreturn { lines: file.output.split("\\n").length };\n',
};

type ShownMadeTool = Pick<Schemas['Tool'], 'description' | 'aliases' | 'made'>;

/**
 * Returns what PUT takes. The stored list of tools is left out if the code names all of them, so that a changed code may use other ones.
 * Default aliases with a mode are set by `PUT /v1/tools/{canonical}/aliases`, and are not part of it.
 */
export function toMadeDraft({ description, aliases, made }: ShownMadeTool): MadeDraft {
  const { implementation = '', parameters = [], names, uses = [] } = made ?? {};
  const plain = aliases.filter((alias) => typeof alias === 'string');
  const given = new Map(Object.entries(names ?? {}).map(([name, canonical]) => [canonical, name]));
  const isNamed = (canonical: string): boolean => {
    const ownName = canonical.slice(canonical.lastIndexOf('.') + 1);
    return [canonical, ownName, given.get(canonical) ?? ownName].some((name) => mentions(implementation, name));
  };
  return {
    ...{ description, parameters, implementation },
    ...(plain.length > 0 && { aliases: plain }),
    ...(names !== undefined && Object.keys(names).length > 0 && { names }),
    ...(!uses.every(isNamed) && { uses }),
  };
}

/** Whether code uses `tools.<name>` or `tools["<name>"]`. */
function mentions(code: string, name: string): boolean {
  return [`tools.${name}`, `tools["${name}"]`, `tools['${name}']`, `tools[\`${name}\`]`].some((text) => code.includes(text));
}

/** Reads a default value: JSON if it is some, otherwise the text. */
export function toDefault(text: string): MadeParameterDraft['default'] {
  return text === '' ? undefined : (jsonOrText(text) as MadeParameterDraft['default']);
}
