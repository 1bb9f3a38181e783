/** Reading templates. A fault is told by line and column, with what would be right. */
import type { Issue } from '../problem.ts';
import type { Template } from './template.ts';

/** `path` of the issue: the field of the document. */
export function parseTemplate(_text: string, _path: string): { template: Template } | { issue: Issue } {
  throw new Error('not built yet');
}
