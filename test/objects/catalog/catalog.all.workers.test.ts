import { describe } from 'vitest';
import { catalogContract } from '../../contracts/catalog/catalog.ts';
import { emptyWorkspace } from '../../storage/workspace.ts';

describe('the Catalog object with its client and directory', () => {
  catalogContract(async () => {
    const { workspace, catalog, directory, settings } = await emptyWorkspace();
    return { workspace, catalog, directory, rootKey: settings.rootKey ?? '' };
  });
});
