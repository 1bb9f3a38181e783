/**
 * Derives tool names from operations: a legal form of `operationId`, otherwise method and path. Independent of the order and the rest of
 * the document, except that operations with the same name all get a hash of method and path as a suffix.
 */
import { fold } from '../names/fold.ts';
import { distinctWireName, isWireName } from '../names/names.ts';
import type { FoundOperation } from './document.ts';

/** In the order of `operations`. */
export function toolNames(operations: readonly Pick<FoundOperation, 'method' | 'path' | 'operationId'>[]): string[] {
  const plain = operations.map(plainName);
  const names = plain.map((name, index) => (isWireName(name) ? name : distinct(operations[index], name)));
  // A name with a hash may equal another operation's plain name. After two rounds only deliberate collisions remain.
  for (let round = 0; round < 2; round++) {
    const shared = new Map<string, number>();
    for (const name of names) shared.set(fold(name), (shared.get(fold(name)) ?? 0) + 1);
    for (const [index, name] of names.entries()) {
      if ((shared.get(fold(name)) ?? 0) > 1) names[index] = distinct(operations[index], plain[index] ?? '');
    }
  }
  return names;
}

function plainName({ method, path, operationId }: Pick<FoundOperation, 'method' | 'path' | 'operationId'>): string {
  const source = operationId ?? `${method.toLowerCase()} ${path}`;
  const illegal = operationId === null ? /[^a-zA-Z0-9]+/g : /[^a-zA-Z0-9_-]+/g;
  const name = source.replace(illegal, '_');
  return name === source ? name : name.replace(/^_+|_+$/g, '');
}

function distinct(operation: Pick<FoundOperation, 'method' | 'path'> | undefined, name: string): string {
  return distinctWireName(`${operation?.method} ${operation?.path}`, name);
}
