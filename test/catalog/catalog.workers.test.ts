import { describe } from 'vitest';
import { catalogContract } from '../contracts/catalog.ts';
import { selfListingServersContract } from '../contracts/self-listing-servers.ts';
import { emptyWorkspace } from '../storage/workspace.ts';

describe('the Catalog object with its client and directory', () => {
  const make = async () => {
    const { workspace, catalog, directory, settings } = await emptyWorkspace();
    return { workspace, catalog, directory, rootKey: settings.rootKey ?? '' };
  };
  catalogContract(make);
  selfListingServersContract(make);
});
