/** The path before that of each endpoint of operators, with the version. */
export const OPERATOR_BASE_PATH = '/admin/v1';
