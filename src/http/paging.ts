/** `?cursor=&limit=` → `{items, nextCursor}`, the same on every list. */
import { z } from 'zod';
import { limits } from '../core/limits.ts';

export const pageFields = {
  cursor: z.string().min(1).max(limits.maxCursorLength).optional().meta({ description: 'The `nextCursor` of the page before.' }),
  limit: z.coerce.number().int().min(1).max(limits.maxPageItems).default(limits.defaultPageItems),
};

export const PageQuery = z.strictObject(pageFields);

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable().meta({ description: 'null on the last page.' }) });
}
