/** The path before that of each operators' endpoint; the version is part of it. */
export const OPERATOR_BASE_PATH = '/admin/v1';
