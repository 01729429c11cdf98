/** The path before that of each endpoint of tenants; the version is part of it (docs/contract.md, Versioning). */
export const API_BASE_PATH = '/api/v1';

/** The path before that of each endpoint of operators, with the version. */
export const OPERATOR_BASE_PATH = '/admin/v1';
