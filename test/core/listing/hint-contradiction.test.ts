import { describe, expect, it } from 'vitest';
import { hasMutatingName } from '../../../src/core/listing/definition-findings.ts';

describe('the advisory finding about read-only tools with a mutating name', () => {
  it.each([
    ...['delete_all', 'delete-file', 'repos.createIssue', 'sendMail', 'POST', 'removeHTTPHeader', 'db_drop_table', 'execute_sql', 'run'],
    ...['browser_pdf_save', 'get_or_create_user', 'list_and_delete', 'upsertRow', 'drive.files.move'],
  ])('flags %s', (name) => expect(hasMutatingName(name)).toBe(true));

  it.each([
    ...['get_commit', 'get_test_run', 'list_updates', 'search_posts', 'read_file', 'describeImport', 'find_set', 'weather', 'undelete1ed'],
    ...['', '___', 'rundown', 'settings', 'address', 'x'.repeat(100_000)],
  ])('does not flag %.40s', (name) => expect(hasMutatingName(name)).toBe(false));
});
