/** The path before that of each endpoint of tenants; the version is part of it (docs/contract.md, Versioning). */
export const API_BASE_PATH = '/api/v1';
