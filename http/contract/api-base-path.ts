/** The path before that of each endpoint of tenants; the version is part of it (docs/contract.md, Versioning). */
export const API_BASE_PATH = '/api/v1';

/** The path for reading the state of a message or a status. */
export function messagePath(messageId: string): string {
  return `${API_BASE_PATH}/messages/${messageId}`;
}
