"""Event logs of Apache Spark: reading them, and where the time of the executors' cores went.

log (files, codecs) <- events <- reading <- application <- slots <- attribution, replay <- findings <- report
"""
