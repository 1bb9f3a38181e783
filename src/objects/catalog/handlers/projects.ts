/** Handlers that write several documents at once, and list the projects that own documents. */
import { rootKeyId } from '../../../core/people/principal.ts';
import type { WriteOptions } from '../../../ports/catalog.ts';
import type { DocumentWrite } from '../../../ports/projects.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';
import { documentHandlers } from './documents.ts';

export const projectHandlers = {
  applyDocuments: async (services, request) => {
    // Rarely used.
    const { applyDocuments } = await import('../projects/apply-documents.ts');
    const operations = {
      isRoot: services.by === rootKeyId,
      put: ({ kind, name, body }: Pick<DocumentWrite, 'kind' | 'name' | 'body'>, options: WriteOptions) =>
        documentHandlers.put(services, kind, name, body, options),
      remove: ({ kind, name }: Pick<DocumentWrite, 'kind' | 'name'>) => documentHandlers.remove(services, kind, name),
    };
    return await applyDocuments(services.context, operations, request);
  },
  projects: async ({ context }) => (await import('../projects/project-rows.ts')).listProjects(context.sql),
} satisfies Partial<CatalogHandlers>;
