import { describe } from 'vitest';
import { catalogContract, contractTools } from '../contracts/catalog.ts';
import { selfListingServersContract } from '../contracts/self-listing-servers.ts';
import { createFakeCatalog } from './catalog.ts';

describe('the catalog in memory', () => {
  const make = async () => {
    const rootKey = 'root-key-of-the-contract-0123456789';
    const { directory, ...catalog } = createFakeCatalog({ definitions: contractTools, rootKey });
    return { workspace: 'default', catalog, directory, rootKey };
  };
  catalogContract(make);
  selfListingServersContract(make);
});
