"""A fit over a Spark data frame: partitions answer inside `mapInArrow`, the driver adds up and asks.

    from ksparse_spark import SparkRounds
    rounds = SparkRounds(frame, features, "y", ("logistic", None))
    model = ksparse.shards.fit(ksparse.SparseLogisticRegression(k=10), rounds, len(features))

Needs PySpark and, on every executor, ksparse. Spark makes partitions again that were lost.
"""

from ksparse.shards import answer, prepare, tree_sum


class SparkRounds:
    """Questions to the partitions of a data frame with numbers in its columns; the target of classes is -1 and +1."""

    def __init__(self, frame, features, target, loss):
        # Kept, since every round goes over it, and since partitions must be the same in all rounds.
        self.frame = frame.select(*features, target).persist()
        self.features, self.target, self.loss = list(features), target, loss
        self.count = self.frame.rdd.getNumPartitions()

    def each(self, question, frame):
        """What each partition answers, in their order; one without rows says nothing."""
        features, target, loss = self.features, self.target, self.loss

        def answers(batches):
            import numpy as np
            import pyarrow as pa
            from pyspark import TaskContext

            batches = [batch for batch in batches if batch.num_rows]
            if not batches:
                return
            table = pa.Table.from_batches(batches)
            X = np.column_stack([table[name].to_numpy() for name in features])
            numbers = answer(prepare(X, table[target].to_numpy()), loss, frame, question)
            place = TaskContext.get().partitionId()
            yield pa.RecordBatch.from_arrays([pa.array([place]), pa.array([numbers])], ["place", "numbers"])

        rows = self.frame.mapInArrow(answers, "place long, numbers array<double>").toArrow()
        order = rows["place"].to_numpy().argsort()
        return [rows["numbers"][int(i)].values.to_numpy(zero_copy_only=False) for i in order]

    def ask(self, question, frame):
        """What all partitions answer, added up in their order."""
        return tree_sum(self.each(question, frame))
