/** Toolset names in requests: checks new names and finds existing toolsets, with suggestions in the errors. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { quoted } from '../../core/problem.ts';
import { ToolsetName } from '../../core/toolset/toolset.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import { ToolFault } from '../define-tool.ts';

/** `requireNewName` checks the format, since its error suggests a valid name. */
export const NewName = z.string().meta({
  description: 'Name of the toolset: 1 to 50 lower-case characters of a-z, 0-9 and "-", not starting or ending with "-".',
  pattern: '^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$',
  examples: ['dev-tools'],
});
export const ExistingName = z.string().meta({ description: 'Name of a toolset from list-saved-toolsets.', examples: ['dev-tools'] });

export function requireNewName(name: string, path = 'name'): void {
  if (ToolsetName.safeParse(name).success) return;
  if (name.trim() === '') throw new ToolFault(`${path}: is empty; give the toolset a name such as dev-tools`);
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-|-$/g, '');
  const hint = ToolsetName.safeParse(slug).success ? `; use ${slug}` : '';
  throw new ToolFault(
    `${path}: ${quoted(name)} is not a valid name: use 1 to 50 of a-z, 0-9 and "-", not starting or ending with "-"${hint}`,
  );
}

export async function requireToolset(editor: ToolsetEditor, name: string, path = 'name'): Promise<StoredDocument> {
  const found = await editor.toolset(name);
  if (found !== null) return found;
  const names = (await editor.toolsets()).map((document) => document.name);
  const shown = names.slice(0, limits.maxReportedWarnings).join(', ') + (names.length > limits.maxReportedWarnings ? ', …' : '');
  const there = names.length === 0 ? 'no toolsets are saved yet; create one with build-toolset' : `saved toolsets: ${shown}`;
  throw new ToolFault(`${path}: there is no toolset ${quoted(name)}; ${there}`);
}

export function nameTakenMessage(name: string, path = 'name'): ToolFault {
  return new ToolFault(
    `${path}: a toolset ${quoted(name)} already exists: choose another name, or rename (rename-toolset), change (update-toolset) or delete (delete-toolset) the existing one`,
  );
}
