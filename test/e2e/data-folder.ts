/** What a stored data folder (`test/fixtures/data-<version>.tgz`) has: made by `test/fixtures/make-data.ts`, opened by `data-folders.e2e.test.ts`. */
export const fixture = {
  /** Test values. */
  keys: {
    MONIKER_ROOT_KEY: 'moniker_root-key-of-the-stored-data-folders',
    MONIKER_MASTER_KEY: 'master-key-of-the-stored-data-folders-0123456789',
  },
  webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  providerKey: 'sk-of-the-stored-data-folders',
};

/** The file `facts.json` in the folder: what only the service that made it knew. */
export type Facts = { apiKey: string; ended: string; waiting: string };
