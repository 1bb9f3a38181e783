/** A reference to a toolset: its name, or one version of it (`support@3`), which never changes. */
import { z } from 'zod';

export const ToolsetReference = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?(@[1-9][0-9]{0,8})?$/, { message: 'must be <toolset> or <toolset>@<version>' })
  .meta({ id: 'ToolsetReference', description: 'A toolset, or one version of it.', example: 'demo' });

/** Splits a reference; without a version the newest is meant. Does not check whether a toolset can have the name. */
export function readToolsetReference(reference: string): { name: string; version?: number } {
  const [name = '', version] = reference.split('@', 2);
  return { name, ...(version !== undefined && { version: Number(version) }) };
}
