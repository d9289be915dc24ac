"""Backups, exports and imports: copies of tables in the file, and in a folder that stands for S3.

records         their records in the catalog, and those of ended processes
backups         copies of tables in the same file
exports         the files that an export writes
imports         the files that an import reads
object_folder   the folder that stands for S3
"""
