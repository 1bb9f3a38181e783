/** Handlers that write several documents at once, and list the projects that own documents. */
import { rootKeyId } from '../../../core/people/principal.ts';
import { applyDocuments } from '../projects/apply-documents.ts';
import { listProjects } from '../projects/project-rows.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';
import { documentHandlers } from './documents.ts';

export const projectHandlers = {
  applyDocuments: (services, request) =>
    applyDocuments(
      services.context,
      {
        isRoot: services.by === rootKeyId,
        put: ({ kind, name, body }, options) => documentHandlers.put(services, kind, name, body, options),
        remove: ({ kind, name }) => documentHandlers.remove(services, kind, name),
      },
      request,
    ),
  projects: ({ context }) => listProjects(context.sql),
} satisfies Partial<CatalogHandlers>;
