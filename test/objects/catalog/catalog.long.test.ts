import { describe } from 'vitest';
import { catalogContract } from '../../contracts/catalog/catalog.ts';
import { contractTools } from '../../contracts/catalog/workspace.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';

describe('the Catalog over the SQLite of Node, with its client and directory', () => {
  const rootKey = 'root-key-of-the-contract-0123456789';
  catalogContract(async () => {
    const { directory, ...catalog } = createNodeCatalog({ definitions: contractTools, rootKey });
    return { workspace: 'default', catalog, directory, rootKey };
  });
});
