/** Names of toolsets in requests: what is wrong with one that is to be made, and what there is where one is not found. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { quoted } from '../../core/problem.ts';
import { ToolsetName } from '../../core/toolset.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import type { ConfigurationDesk } from '../../ports/configuration-desk.ts';
import { ToolFault } from '../define-tool.ts';

/** The form is judged by `requireNewName`, which says what to write instead. */
export const NewName = z.string().meta({
  description: 'Of the toolset: lower case, 1 to 50 of a-z, 0-9 and "-", with no "-" at either end.',
  pattern: '^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$',
  examples: ['dev-tools'],
});
export const ExistingName = z.string().meta({ description: 'Of a toolset that list-saved-toolsets shows.', examples: ['dev-tools'] });

export function requireNewName(name: string, path = 'name'): void {
  if (ToolsetName.safeParse(name).success) return;
  if (name.trim() === '') throw new ToolFault(`${path}: is blank; give the toolset a name such as dev-tools`);
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-|-$/g, '');
  const hint = ToolsetName.safeParse(slug).success ? `; take ${slug}` : '';
  throw new ToolFault(
    `${path}: ${quoted(name)} cannot be a name: it must be 1 to 50 of a-z, 0-9 and "-", with no "-" at either end${hint}`,
  );
}

export async function requireToolset(desk: ConfigurationDesk, name: string, path = 'name'): Promise<StoredDocument> {
  const found = await desk.toolset(name);
  if (found !== null) return found;
  const names = (await desk.toolsets()).map((document) => document.name);
  const shown = names.slice(0, limits.maxToldAdvice).join(', ') + (names.length > limits.maxToldAdvice ? ', …' : '');
  const there = names.length === 0 ? 'none are saved yet; build-toolset makes one' : `there are ${shown}`;
  throw new ToolFault(`${path}: there is no toolset ${quoted(name)}; ${there}`);
}

export function takenName(name: string, path = 'name'): ToolFault {
  return new ToolFault(
    `${path}: there is a toolset ${quoted(name)} already: take another name, rename that one (rename-toolset), change it (update-toolset) or delete it (delete-toolset)`,
  );
}
