/** How a toolset is named by whoever uses it: by its name, or by one version of it (`support@3`), which no later write changes. */
import { z } from 'zod';

export const ToolsetReference = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?(@[1-9][0-9]{0,8})?$/, { message: 'must be <toolset> or <toolset>@<version>' })
  .meta({ id: 'ToolsetReference', description: 'A toolset, or one version of it.', example: 'demo' });

/** Its halves; without a version the newest is meant. Says nothing of whether the name is one that a toolset can have. */
export function readToolsetReference(reference: string): { name: string; version?: number } {
  const [name = '', version] = reference.split('@', 2);
  return { name, ...(version !== undefined && { version: Number(version) }) };
}
